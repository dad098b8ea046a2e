import { ExpressionEvaluator } from './evaluate-expression';
import { Context, type Block, type Frame } from './frame';
import { globals } from './globals';
import { HtmlOutput } from './html-output';
import { PlainOutput, type Output } from './output';
import type { RenderContext } from './render-context';
import { Scope } from './scope';
import { isSame } from './operators';
import {
  TemplateError,
  walk,
  type Expression,
  type Parameter,
  type Position,
  type Statement,
} from './syntax';
import { Callable, isTruthy, SafeText, sizeOf, toJson, toText, type Dict, type Value } from './values';

export class StatementEvaluator {
  private output: Output;
  private readonly expressions: ExpressionEvaluator;
  /** What every template sees, also one that is imported without context. */
  private readonly globals = new Context();

  constructor(private readonly context: RenderContext) {
    this.output = this.newOutput();
    this.expressions = new ExpressionEvaluator(context, {
      capture: (statements, scope, frame) => this.captured(() => this.run(statements, scope, frame)),
      macro: (name, parameters, body, scope, frame) => this.macro(name, parameters, body, scope, frame),
    });
    for (const [name, value] of globals(context)) this.globals.set(name, value);
    this.globals.set('t', new Callable('t', (args, named) => this.expressions.translate(args, named)));
    for (const [name, value] of context.globals) this.globals.set(name, value);
  }

  /** Variables that have no value, as dotted paths. */
  get missing(): ReadonlySet<string> {
    return this.expressions.missing;
  }

  template(statements: readonly Statement[]): string {
    const context = new Context(this.globals);
    for (const [name, value] of this.context.variables) context.set(name, value);
    this.page(statements, undefined, context, new Scope(undefined, { isTop: true }));
    return this.output.toString();
  }

  private newOutput(): Output {
    return this.context.isMarkup ? new HtmlOutput() : new PlainOutput();
  }

  /** Runs a whole template; with a layout, the layout is what gets written. */
  private page(
    statements: readonly Statement[],
    name: string | undefined,
    context: Context,
    top: Scope,
  ): void {
    const frame: Frame = { name, context, layout: undefined, isInBlock: false };
    const run = (): void =>
      this.within(frame, () => {
        this.collectBlocks(statements, frame);
        this.run(statements, top, frame);
      });
    if (!structureOf(statements).mayExtend) return run();
    const own = this.captured(run);
    const { layout } = frame;
    if (layout === undefined) return this.writeText(own);
    const source = this.load(layout, undefined);
    this.context.meter.nested(() => this.page(source, layout, context, top));
  }

  /** Adds to an error in which template it happened. */
  private within<Result>(frame: Frame, work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof TemplateError) || error.template !== undefined) throw error;
      throw new TemplateError(error.message, error.at, frame.name ?? '');
    }
  }

  /** The innermost template's blocks come first; `super()` goes outwards. */
  private collectBlocks(statements: readonly Statement[], frame: Frame): void {
    const { blocks } = frame.context;
    for (const { name, body, at } of structureOf(statements).blocks) {
      const chain = blocks.get(name) ?? [];
      if (chain.some((entry) => entry.frame === frame)) {
        throw new TemplateError(`The block "${name}" is defined twice.`, at);
      }
      blocks.set(name, [...chain, { body, frame }]);
    }
  }

  private run(statements: readonly Statement[], scope: Scope, frame: Frame): void {
    for (const statement of statements) this.statement(statement, scope, frame);
  }

  private statement(statement: Statement, scope: Scope, frame: Frame): void {
    this.context.meter.step();
    switch (statement.kind) {
      case 'text':
        return this.write(statement.text);
      case 'output':
        return this.writeValue(statement.value, scope, frame);
      case 'if':
        return this.run(
          isTruthy(this.expressions.value(statement.condition, scope, frame))
            ? statement.body
            : statement.otherwise,
          scope,
          frame,
        );
      case 'for':
        return this.loop(statement, scope, frame);
      case 'set':
        return this.set(statement.names, this.expressions.value(statement.value, scope, frame), scope, frame);
      case 'macro':
        return this.define(
          statement.name,
          this.macro(statement.name, statement.parameters, statement.body, undefined, frame),
          scope,
          frame,
          true,
        );
      case 'block':
        return frame.layout !== undefined && !frame.isInBlock
          ? undefined
          : this.block(statement.name, frame.context.blocks.get(statement.name), scope, frame);
      case 'extends':
        frame.layout = this.templateName(statement.template, scope, frame);
        this.load(frame.layout, statement.at);
        return;
      case 'include':
        return this.include(statement, scope, frame);
      case 'import':
        return this.define(statement.alias, this.imported(statement, scope, frame), scope, frame);
      case 'from': {
        const exports = this.imported(statement, scope, frame);
        for (const { name, alias } of statement.names) {
          if (!exports.has(name))
            throw new TemplateError(`The template imported from has no "${name}".`, statement.at);
          this.define(alias, exports.get(name), scope, frame);
        }
        return;
      }
      case 'switch':
        return this.switchStatement(statement, scope, frame);
    }
  }

  private write(text: string): void {
    this.context.meter.write(text.length);
    this.output.write(text);
  }

  private writeValue(expression: Expression, scope: Scope, frame: Frame): void {
    const value = this.expressions.value(expression, scope, frame);
    if (value === undefined || value === null) {
      this.expressions.recordMissing(expression, value);
      if (value === undefined || !this.context.isMarkup) return;
    }
    const { meter } = this.context;
    const text = toText(value, meter);
    meter.make(text.length);
    meter.write(text.length);
    this.output.writeValue(text, value, () => JSON.stringify(toJson(value, meter)) ?? 'null');
  }

  /** Text that the template itself has made, where it is not known whether it is markup. */
  private writeText(value: Value): void {
    const text = toText(value, this.context.meter);
    this.context.meter.write(text.length);
    this.output.writeValue(text, value, () => JSON.stringify(text));
  }

  private set(names: string[], value: Value, scope: Scope, { context }: Frame): void {
    for (const name of names) {
      scope.assign(name, value);
      if (!scope.isTop) continue;
      context.set(name, value);
      context.export(name);
    }
  }

  /** A macro or an import belongs to the whole template, also where it stands in a block; one in a loop to the loop. */
  private define(name: string, value: Value, scope: Scope, { context }: Frame, isExported = false): void {
    scope.declare(name, value);
    if (scope.isInner) return;
    context.set(name, value);
    if (isExported) context.export(name);
  }

  private loop(statement: Extract<Statement, { kind: 'for' }>, scope: Scope, frame: Frame): void {
    const over = this.expressions.value(statement.over, scope, frame);
    if (over === undefined) this.expressions.recordMissing(statement.over, over);
    const hasParts = statement.names.length > 1;
    const items = this.items(over, hasParts);
    // One scope for all turns: what a turn sets, the next one has.
    const inner = new Scope(scope, { isInner: true });
    for (const name of statement.names) inner.declare(name, undefined);
    items.forEach((item, index) => {
      this.context.meter.step(4);
      statement.names.forEach((name, part) =>
        inner.declare(name, hasParts ? this.expressions.member(item, part) : item),
      );
      inner.declare('loop', loopState(index, items.length));
      this.run(statement.body, inner, frame);
    });
    if (items.length === 0) this.run(statement.otherwise, inner, frame);
  }

  /** What a loop goes through: items, characters, or with two names the pairs of a dictionary. */
  private items(over: Value, wantsPairs: boolean): Value[] {
    this.context.meter.make(sizeOf(over));
    if (Array.isArray(over)) return over;
    if (over instanceof Map) return wantsPairs ? [...over].map(([key, value]) => [key, value]) : [];
    const characters = typeof over === 'string' ? [...over] : over instanceof SafeText ? [...over.text] : [];
    return wantsPairs ? characters.map((character, index) => [String(index), character]) : characters;
  }

  private block(name: string, chain: Block[] | undefined, scope: Scope, frame: Frame): void {
    const [entry, ...outer] = chain ?? [];
    if (!entry) return;
    this.context.meter.nested(() => {
      const inner = new Scope(scope, { isolates: true });
      inner.declare(
        'super',
        new Callable('super', () => this.captured(() => this.block(name, outer, scope, frame))),
      );
      this.within(entry.frame, () => this.run(entry.body, inner, { ...entry.frame, isInBlock: true }));
    });
  }

  private include(statement: Extract<Statement, { kind: 'include' }>, scope: Scope, frame: Frame): void {
    const name = this.templateName(statement.template, scope, frame);
    const source = this.context.template(name);
    if (!source && statement.ignoreMissing) return;
    const found = source ?? this.load(name, statement.at);
    const top = new Scope(scope, { isolates: true, isTop: true });
    this.context.meter.nested(() => this.page(found, name, new Context(frame.context), top));
  }

  private imported(
    statement: Extract<Statement, { kind: 'import' | 'from' }>,
    scope: Scope,
    frame: Frame,
  ): Dict {
    const name = this.templateName(statement.template, scope, frame);
    const source = this.load(name, statement.at);
    const context = new Context(statement.withContext ? frame.context : this.globals);
    const top = new Scope(statement.withContext ? scope : undefined, { isTop: true });
    this.context.meter.nested(() => this.captured(() => this.page(source, name, context, top)));
    return new Map([...context.exports].map((exported) => [exported, context.get(exported)]));
  }

  private templateName(expression: Expression, scope: Scope, frame: Frame): string {
    const value = this.expressions.value(expression, scope, frame);
    if (typeof value === 'string' && value !== '') return value;
    throw new TemplateError('The name of a template is expected here.', expression.at);
  }

  private load(name: string, at: Position | undefined): Statement[] {
    const source = this.context.template(name);
    if (!source) throw new TemplateError(`There is no template "${name.slice(0, 200)}".`, at);
    return source;
  }

  private switchStatement(
    statement: Extract<Statement, { kind: 'switch' }>,
    scope: Scope,
    frame: Frame,
  ): void {
    const on = this.expressions.value(statement.on, scope, frame);
    // As in Nunjucks: cases without a body fall through to the next one that has something.
    const start = statement.cases.findIndex(({ value }) =>
      isSame(on, this.expressions.value(value, scope, frame)),
    );
    if (start === -1) return this.run(statement.otherwise, scope, frame);
    const chosen = statement.cases.slice(start).find(({ body }) => body.length > 0);
    this.run(chosen?.body ?? statement.otherwise, scope, frame);
  }

  /** A macro sees the context of its template, not what is around its call; the body of a `call` sees `around`. */
  private macro(
    name: string,
    parameters: Parameter[],
    body: Statement[],
    around: Scope | undefined,
    frame: Frame,
  ): Callable {
    return new Callable(name, (positional, named) =>
      this.context.meter.nested(() => {
        const inner = new Scope(around, { isolates: true, isInner: around !== undefined });
        if (named.has('caller')) inner.declare('caller', named.get('caller'));
        parameters.forEach(({ name: parameter, byDefault }, index) => {
          const isGiven = index < positional.length || named.has(parameter);
          const given = index < positional.length ? positional[index] : named.get(parameter);
          inner.declare(
            parameter,
            isGiven || !byDefault ? given : this.expressions.value(byDefault, inner, frame),
          );
        });
        return this.captured(() => this.within(frame, () => this.run(body, inner, frame)));
      }),
    );
  }

  /** What `work` writes, as a value. */
  private captured(work: () => void): Value {
    const outer = this.output;
    this.output = this.newOutput();
    try {
      work();
      const text = this.output.toString();
      this.context.meter.make(text.length);
      return this.context.isMarkup ? new SafeText(text, 'html') : text;
    } finally {
      this.output = outer;
    }
  }
}

function loopState(index: number, length: number): Dict {
  return new Map<string, Value>([
    ['index', index + 1],
    ['index0', index],
    ['revindex', length - index],
    ['revindex0', length - index - 1],
    ['first', index === 0],
    ['last', index === length - 1],
    ['length', length],
  ]);
}

/** What a template's place among others depends on. */
interface Structure {
  blocks: Extract<Statement, { kind: 'block' }>[];
  /** Whether it may turn out to have a layout: `extends` can stand under a condition. */
  mayExtend: boolean;
}

/** Parsed templates are evaluated again and again, inside loops as well. */
const structures = new WeakMap<readonly Statement[], Structure>();

function structureOf(statements: readonly Statement[]): Structure {
  const known = structures.get(statements);
  if (known) return known;
  const structure: Structure = { blocks: [], mayExtend: false };
  walk(statements, {
    statement: (statement) => {
      if (statement.kind === 'block') structure.blocks.push(statement);
      structure.mayExtend ||= statement.kind === 'extends';
    },
  });
  structures.set(statements, structure);
  return structure;
}
