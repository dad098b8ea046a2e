import type { Value } from './values';

/**
 * The variables of one place in a template. A loop reads and changes those of the scope around it; macros, blocks and
 * includes read them, but what they set stays in their own scope.
 */
export class Scope {
  private readonly variables = new Map<string, Value>();

  constructor(
    private readonly parent?: Scope,
    private readonly keepsWrites = false,
  ) {}

  get isTop(): boolean {
    return this.parent === undefined;
  }

  has(name: string): boolean {
    return this.variables.has(name) || (this.parent?.has(name) ?? false);
  }

  get(name: string): Value {
    return this.variables.has(name) ? this.variables.get(name) : this.parent?.get(name);
  }

  /** Sets a variable in this scope, also where an outer scope has one of this name. */
  declare(name: string, value: Value): void {
    this.variables.set(name, value);
  }

  /** Sets a variable in the scope that has it, else in this one. */
  assign(name: string, value: Value): void {
    (this.owner(name) ?? this).variables.set(name, value);
  }

  /** The variables of this scope. */
  entries(): IterableIterator<[string, Value]> {
    return this.variables.entries();
  }

  private owner(name: string): Scope | undefined {
    if (this.variables.has(name)) return this;
    return this.keepsWrites ? undefined : this.parent?.owner(name);
  }
}
