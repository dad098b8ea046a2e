import type { Value } from './values';

interface ScopeKind {
  /** What is set here and in the loops directly inside stays here. */
  isolates?: boolean;
  /** The outermost scope of a template: what is set here, macros and importers see as well. */
  isTop?: boolean;
  /** Inside a loop or the body of a `call`: macros and imports made here are known here only. */
  isInner?: boolean;
}

/** The variables that a place in a template sets; what it only reads may stand in the context behind the scopes. */
export class Scope {
  readonly isTop: boolean;
  readonly isInner: boolean;
  private readonly isolates: boolean;
  private readonly variables = new Map<string, Value>();

  constructor(
    private readonly parent: Scope | undefined,
    { isolates = false, isTop = false, isInner = false }: ScopeKind = {},
  ) {
    this.isTop = isTop;
    this.isInner = isInner;
    this.isolates = isolates;
  }

  /** The innermost scope that has a variable of this name. */
  having(name: string): Scope | undefined {
    if (this.variables.has(name)) return this;
    return this.parent?.having(name);
  }

  /** A variable of this scope itself. */
  own(name: string): Value {
    return this.variables.get(name);
  }

  /** Gives this scope a variable, also where an outer scope has one of this name. */
  declare(name: string, value: Value): void {
    this.variables.set(name, value);
  }

  /** Sets a variable in the scope that has it, else in this one. A scope that isolates does not look further. */
  assign(name: string, value: Value): void {
    const owner = this.isolates ? this : (this.having(name) ?? this);
    // Setting a name to nothing does not hide what the context has under it.
    if (value === undefined && !owner.variables.has(name)) return;
    owner.variables.set(name, value);
  }
}
