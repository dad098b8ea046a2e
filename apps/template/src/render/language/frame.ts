import type { Statement } from './syntax';
import type { Value } from './values';

/** The body of a block, and the template it stands in. */
export interface Block {
  body: Statement[];
  frame: Frame;
}

/** What a template and its layouts share: the variables of the outermost level, blocks, and what importers get. */
export class Context {
  readonly blocks = new Map<string, Block[]>();
  readonly exports = new Set<string>();
  private readonly variables = new Map<string, Value>();

  /** @param outer where a variable that is not set here is looked for */
  constructor(private readonly outer?: Pick<Context, 'get'>) {}

  get(name: string): Value {
    return this.variables.has(name) ? this.variables.get(name) : this.outer?.get(name);
  }

  set(name: string, value: Value): void {
    this.variables.set(name, value);
  }

  /** Names that begin with an underscore stay in the template. */
  export(name: string): void {
    if (!name.startsWith('_')) this.exports.add(name);
  }
}

/** One template while it is evaluated. */
export interface Frame {
  name: string | undefined;
  context: Context;
  /** The template that this one extends, from where it says so. */
  layout: string | undefined;
  /** Blocks inside a block are always written; outermost ones are left to the layout, where there is one. */
  isInBlock: boolean;
}
