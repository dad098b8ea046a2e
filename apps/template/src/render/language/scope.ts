import type { Value } from './values';

/**
 * The variables of one place in a template. A loop sees and changes what is around it; macros, blocks and includes
 * see it, but what they set stays with them.
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

  /** Sets a variable here, whatever is around. */
  declare(name: string, value: Value): void {
    this.variables.set(name, value);
  }

  /** Sets a variable where it is already, else here. */
  assign(name: string, value: Value): void {
    (this.owner(name) ?? this).variables.set(name, value);
  }

  /** What was set at this place. */
  entries(): IterableIterator<[string, Value]> {
    return this.variables.entries();
  }

  private owner(name: string): Scope | undefined {
    if (this.variables.has(name)) return this;
    return this.keepsWrites ? undefined : this.parent?.owner(name);
  }
}
