import { ExpressionEvaluator } from './evaluate-expression';
import type { Frame } from './frame';
import { globals } from './globals';
import { HtmlOutput } from './html-output';
import { PlainOutput, type Output } from './output';
import type { RenderContext } from './render-context';
import { Scope } from './scope';
import { TemplateError, type Expression, type Parameter, type Position, type Statement } from './syntax';
import {
  Callable,
  isSame,
  isTruthy,
  SafeText,
  sizeOf,
  toJson,
  toText,
  type Dict,
  type Value,
} from './values';

export class StatementEvaluator {
  private output: Output;
  private readonly expressions: ExpressionEvaluator;
  private readonly root = new Scope();

  constructor(private readonly context: RenderContext) {
    this.output = this.newOutput();
    this.expressions = new ExpressionEvaluator(context, {
      capture: (statements, scope, frame) =>
        this.captured(() => this.run(statements, scope, { ...frame, isMuted: false })),
      macro: (name, parameters, body, scope, frame) => this.macro(name, parameters, body, scope, frame),
    });
    for (const [name, value] of globals(context)) this.root.declare(name, value);
    this.root.declare('t', new Callable('t', (args) => this.expressions.translate(args)));
    for (const [name, value] of context.variables) this.root.declare(name, value);
  }

  /** Variables that have no value, as dotted paths. */
  get missing(): ReadonlySet<string> {
    return this.expressions.missing;
  }

  template(statements: readonly Statement[]): string {
    this.page(statements, undefined, new Map(), new Scope(this.root, true));
    return this.output.toString();
  }

  private newOutput(): Output {
    return this.context.isMarkup ? new HtmlOutput() : new PlainOutput();
  }

  /** Runs a whole template; with a layout, the layout is what gets written. */
  private page(
    statements: readonly Statement[],
    name: string | undefined,
    blocks: Frame['blocks'],
    top: Scope,
  ): Frame {
    const isMuted = statements.some(({ kind }) => kind === 'extends');
    const frame: Frame = { name, top, blocks, isMuted, layout: undefined, exports: new Map() };
    this.within(frame, () => {
      this.collectBlocks(statements, frame);
      this.run(statements, top, frame);
    });
    const { layout } = frame;
    if (layout !== undefined) {
      const source = this.load(layout, undefined);
      this.context.meter.nested(() => this.page(source, layout, blocks, top));
    }
    return frame;
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
    for (const statement of statements) {
      if (statement.kind === 'block') {
        const chain = frame.blocks.get(statement.name) ?? [];
        if (chain.some((entry) => entry.frame === frame)) {
          throw new TemplateError(`The block "${statement.name}" is defined twice.`, statement.at);
        }
        frame.blocks.set(statement.name, [...chain, { body: statement.body, frame }]);
        this.collectBlocks(statement.body, frame);
      } else if (statement.kind === 'if') {
        this.collectBlocks([...statement.body, ...statement.otherwise], frame);
      } else if (statement.kind === 'for') {
        this.collectBlocks(statement.body, frame);
      }
    }
  }

  private run(statements: readonly Statement[], scope: Scope, frame: Frame): void {
    for (const statement of statements) this.statement(statement, scope, frame);
  }

  private statement(statement: Statement, scope: Scope, frame: Frame): void {
    this.context.meter.step();
    const muted = frame.isMuted;
    switch (statement.kind) {
      case 'text':
        return muted ? undefined : this.write(statement.text);
      case 'output':
        return muted ? undefined : this.writeValue(statement.value, scope, frame);
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
      case 'macro': {
        const macro = this.macro(statement.name, statement.parameters, statement.body, frame.top, frame);
        return this.set([statement.name], macro, scope, frame);
      }
      case 'block':
        return muted ? undefined : this.block(statement.name, 0, scope, frame);
      case 'extends':
        if (!muted || frame.layout !== undefined) {
          throw new TemplateError('A template can extend one layout, at its top level.', statement.at);
        }
        frame.layout = this.templateName(statement.template, scope, frame);
        this.load(frame.layout, statement.at);
        return;
      case 'include':
        return muted ? undefined : this.include(statement, scope, frame);
      case 'import':
        return this.set([statement.alias], this.imported(statement, scope, frame), scope, frame);
      case 'from': {
        const exports = this.imported(statement, scope, frame);
        for (const { name, alias } of statement.names) {
          if (!exports.has(name))
            throw new TemplateError(`The template imported from has no "${name}".`, statement.at);
          this.set([alias], exports.get(name), scope, frame);
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

  private set(names: string[], value: Value, scope: Scope, frame: Frame): void {
    for (const name of names) {
      if (scope === frame.top) {
        scope.declare(name, value);
        frame.exports.set(name, value);
      } else {
        scope.assign(name, value);
      }
    }
  }

  private loop(statement: Extract<Statement, { kind: 'for' }>, scope: Scope, frame: Frame): void {
    const over = this.expressions.value(statement.over, scope, frame);
    if (over === undefined) this.expressions.recordMissing(statement.over, over);
    const items = this.items(over, statement.names.length > 1);
    if (items.length === 0) return this.run(statement.otherwise, scope, frame);
    items.forEach((item, index) => {
      this.context.meter.step(4);
      const inner = new Scope(scope);
      inner.declare('loop', loopState(index, items.length));
      if (statement.names.length === 1) inner.declare(statement.names[0]!, item);
      else
        statement.names.forEach((name, part) =>
          inner.declare(name, Array.isArray(item) ? item[part] : undefined),
        );
      this.run(statement.body, inner, frame);
    });
  }

  /** What a loop goes through: items, characters, or the pairs of a dictionary. */
  private items(over: Value, wantsPairs: boolean): Value[] {
    this.context.meter.make(sizeOf(over));
    if (Array.isArray(over)) return [...over];
    if (over instanceof Map)
      return wantsPairs ? [...over].map(([key, value]) => [key, value]) : [...over.keys()];
    if (typeof over === 'string') return [...over];
    return over instanceof SafeText ? [...over.text] : [];
  }

  private block(name: string, depth: number, scope: Scope, frame: Frame): void {
    const entry = frame.blocks.get(name)?.[depth];
    if (!entry) return;
    this.context.meter.nested(() => {
      const inner = new Scope(scope, true);
      inner.declare(
        'super',
        new Callable('super', () => this.captured(() => this.block(name, depth + 1, scope, frame))),
      );
      this.within(entry.frame, () => this.run(entry.body, inner, { ...entry.frame, isMuted: false }));
    });
  }

  private include(statement: Extract<Statement, { kind: 'include' }>, scope: Scope, frame: Frame): void {
    const name = this.templateName(statement.template, scope, frame);
    const source = this.context.template(name);
    if (!source && statement.ignoreMissing) return;
    const found = source ?? this.load(name, statement.at);
    this.context.meter.nested(() => this.page(found, name, new Map(), new Scope(scope, true)));
  }

  private imported(
    statement: Extract<Statement, { kind: 'import' | 'from' }>,
    scope: Scope,
    frame: Frame,
  ): Map<string, Value> {
    const name = this.templateName(statement.template, scope, frame);
    const source = this.load(name, statement.at);
    return this.context.meter.nested(() => {
      const outer = statement.withContext ? scope : this.root;
      let exports = new Map<string, Value>();
      this.captured(() => {
        exports = this.page(source, name, new Map(), new Scope(outer, true)).exports;
      });
      return exports;
    });
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

  /** A macro sees what is at the top of its template, not what is context its call. */
  private macro(
    name: string,
    parameters: Parameter[],
    body: Statement[],
    scope: Scope,
    frame: Frame,
  ): Callable {
    return new Callable(name, (positional, named) =>
      this.context.meter.nested(() => {
        const inner = new Scope(scope, true);
        parameters.forEach(({ name: parameter, byDefault }, index) => {
          const given = index < positional.length ? positional[index] : named.get(parameter);
          const value =
            given === undefined && byDefault ? this.expressions.value(byDefault, inner, frame) : given;
          inner.declare(parameter, value);
        });
        if (named.has('caller')) inner.declare('caller', named.get('caller'));
        return this.captured(() =>
          this.within(frame, () => this.run(body, inner, { ...frame, isMuted: false })),
        );
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
