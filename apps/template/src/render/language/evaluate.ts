import { HtmlOutput, PlainOutput, type Output } from './escape';
import type { FilterContext } from './filter-context';
import { filters } from './filters';
import { globals } from './globals';
import { methodOf } from './methods';
import { LimitError, type Meter } from './meter';
import { Scope } from './scope';
import { tests } from './tests';
import {
  TemplateError,
  type Arguments,
  type Expression,
  type Parameter,
  type Position,
  type Statement,
} from './syntax';
import {
  Callable,
  isTruthy,
  SafeText,
  sizeOf,
  toJson,
  toNumber,
  toText,
  type Dict,
  type Value,
} from './values';

/** What surrounds one rendering. */
export interface Surroundings {
  culture: string;
  timeZone: string;
  /** Whether values are escaped for HTML. */
  isMarkup: boolean;
  /** Data and globals, by name. */
  variables: Dict;
  /** The parsed template of that name, or undefined where the tenant has none. */
  template(name: string): Statement[] | undefined;
  /** The text of a key like `Invoice:total`, or undefined where there is none. */
  translate(key: string): string | undefined;
  meter: Meter;
}

export interface Rendering {
  text: string;
  /** Variables that were asked for and are missing, as dotted paths. */
  missing: string[];
}

/** Renders parsed statements. @throws TemplateError, LimitError */
export function evaluate(statements: readonly Statement[], surroundings: Surroundings): Rendering {
  const evaluator = new Evaluator(surroundings);
  try {
    const text = evaluator.template(statements);
    return { text, missing: [...evaluator.missing] };
  } catch (error) {
    throw error instanceof RangeError ? new LimitError('depth') : error;
  }
}

/** One template on its way: where it writes, its blocks, and what it hands to those that import it. */
interface Page {
  name: string | undefined;
  top: Scope;
  blocks: Map<string, { body: Statement[]; page: Page }[]>;
  /** With a layout, only what stands in blocks is written. */
  isMuted: boolean;
  layout: string | undefined;
  exports: Map<string, Value>;
}

const NAMES_MISSING_MAX = 200;

class Evaluator {
  readonly missing = new Set<string>();
  private output: Output;
  private readonly filterContext: FilterContext;
  private readonly root = new Scope();

  constructor(private readonly around: Surroundings) {
    this.output = this.newOutput();
    for (const [name, value] of globals(around)) this.root.declare(name, value);
    this.root.declare('t', new Callable('t', (args) => this.translate(args)));
    for (const [name, value] of around.variables) this.root.declare(name, value);
    this.filterContext = {
      culture: around.culture,
      timeZone: around.timeZone,
      isMarkup: around.isMarkup,
      meter: around.meter,
      text: (value) => toText(value, around.meter),
      test: (name, value, args) => this.test(name, value, args, undefined),
    };
  }

  template(statements: readonly Statement[]): string {
    this.page(statements, undefined, new Map(), new Scope(this.root, true));
    return this.output.toString();
  }

  private newOutput(): Output {
    return this.around.isMarkup ? new HtmlOutput() : new PlainOutput();
  }

  /** Runs a whole template; with a layout, the layout is what gets written. */
  private page(
    statements: readonly Statement[],
    name: string | undefined,
    blocks: Page['blocks'],
    top: Scope,
  ): Page {
    const isMuted = statements.some(({ kind }) => kind === 'extends');
    const page: Page = { name, top, blocks, isMuted, layout: undefined, exports: new Map() };
    this.within(page, () => {
      this.collectBlocks(statements, page);
      this.run(statements, top, page);
    });
    const { layout } = page;
    if (layout !== undefined) {
      const source = this.load(layout, undefined);
      this.around.meter.nested(() => this.page(source, layout, blocks, top));
    }
    return page;
  }

  /** Says of an error in which template it happened. */
  private within<Result>(page: Page, work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof TemplateError) || error.template !== undefined) throw error;
      throw new TemplateError(error.message, error.at, page.name ?? '');
    }
  }

  /** The innermost template's blocks come first; `super()` goes outwards. */
  private collectBlocks(statements: readonly Statement[], page: Page): void {
    for (const statement of statements) {
      if (statement.kind === 'block') {
        const chain = page.blocks.get(statement.name) ?? [];
        if (chain.some((entry) => entry.page === page)) {
          throw new TemplateError(`The block "${statement.name}" is defined twice.`, statement.at);
        }
        page.blocks.set(statement.name, [...chain, { body: statement.body, page }]);
        this.collectBlocks(statement.body, page);
      } else if (statement.kind === 'if') {
        this.collectBlocks([...statement.body, ...statement.otherwise], page);
      } else if (statement.kind === 'for') {
        this.collectBlocks(statement.body, page);
      }
    }
  }

  private run(statements: readonly Statement[], scope: Scope, page: Page): void {
    for (const statement of statements) this.statement(statement, scope, page);
  }

  private statement(statement: Statement, scope: Scope, page: Page): void {
    this.around.meter.step();
    const muted = page.isMuted;
    switch (statement.kind) {
      case 'text':
        return muted ? undefined : this.write(statement.text);
      case 'output':
        return muted ? undefined : this.writeValue(statement.value, scope, page);
      case 'if':
        return this.run(
          isTruthy(this.value(statement.condition, scope, page)) ? statement.body : statement.otherwise,
          scope,
          page,
        );
      case 'for':
        return this.loop(statement, scope, page);
      case 'set':
        return this.set(statement.names, this.value(statement.value, scope, page), scope, page);
      case 'macro': {
        const macro = this.macro(statement.name, statement.parameters, statement.body, page.top, page);
        return this.set([statement.name], macro, scope, page);
      }
      case 'block':
        return muted ? undefined : this.block(statement.name, 0, scope, page);
      case 'extends':
        if (!muted || page.layout !== undefined) {
          throw new TemplateError(
            'A template extends one layout, and says so at its top level.',
            statement.at,
          );
        }
        page.layout = this.templateName(statement.template, scope, page);
        this.load(page.layout, statement.at);
        return;
      case 'include':
        return muted ? undefined : this.include(statement, scope, page);
      case 'import':
        return this.set([statement.alias], this.imported(statement, scope, page), scope, page);
      case 'from': {
        const exports = this.imported(statement, scope, page);
        for (const { name, alias } of statement.names) {
          if (!exports.has(name))
            throw new TemplateError(`The template imported from has no "${name}".`, statement.at);
          this.set([alias], exports.get(name), scope, page);
        }
        return;
      }
      case 'switch':
        return this.choose(statement, scope, page);
    }
  }

  private write(text: string): void {
    this.around.meter.write(text.length);
    this.output.write(text);
  }

  private writeValue(expression: Expression, scope: Scope, page: Page): void {
    const value = this.value(expression, scope, page);
    if (value === undefined || value === null) {
      this.note(expression, value);
      if (value === undefined || !this.around.isMarkup) return;
    }
    const { meter } = this.around;
    const text = toText(value, meter);
    meter.make(text.length);
    meter.write(text.length);
    this.output.writeValue(text, value, () => JSON.stringify(toJson(value, meter)) ?? 'null');
  }

  private set(names: string[], value: Value, scope: Scope, page: Page): void {
    for (const name of names) {
      if (scope === page.top) {
        scope.declare(name, value);
        page.exports.set(name, value);
      } else {
        scope.assign(name, value);
      }
    }
  }

  private loop(statement: Extract<Statement, { kind: 'for' }>, scope: Scope, page: Page): void {
    const over = this.value(statement.over, scope, page);
    if (over === undefined) this.note(statement.over, over);
    const items = this.items(over, statement.names.length > 1);
    if (items.length === 0) return this.run(statement.otherwise, scope, page);
    items.forEach((item, index) => {
      this.around.meter.step(4);
      const inner = new Scope(scope);
      inner.declare('loop', loopState(index, items.length));
      if (statement.names.length === 1) inner.declare(statement.names[0]!, item);
      else
        statement.names.forEach((name, part) =>
          inner.declare(name, Array.isArray(item) ? item[part] : undefined),
        );
      this.run(statement.body, inner, page);
    });
  }

  /** What a loop goes through: items, characters, or the pairs of a dictionary. */
  private items(over: Value, wantsPairs: boolean): Value[] {
    this.around.meter.make(sizeOf(over));
    if (Array.isArray(over)) return [...over];
    if (over instanceof Map)
      return wantsPairs ? [...over].map(([key, value]) => [key, value]) : [...over.keys()];
    if (typeof over === 'string') return [...over];
    return over instanceof SafeText ? [...over.text] : [];
  }

  private block(name: string, depth: number, scope: Scope, page: Page): void {
    const entry = page.blocks.get(name)?.[depth];
    if (!entry) return;
    this.around.meter.nested(() => {
      const inner = new Scope(scope, true);
      inner.declare(
        'super',
        new Callable('super', () => this.captured(() => this.block(name, depth + 1, scope, page))),
      );
      this.within(entry.page, () => this.run(entry.body, inner, { ...entry.page, isMuted: false }));
    });
  }

  private include(statement: Extract<Statement, { kind: 'include' }>, scope: Scope, page: Page): void {
    const name = this.templateName(statement.template, scope, page);
    const source = this.around.template(name);
    if (!source && statement.ignoreMissing) return;
    const found = source ?? this.load(name, statement.at);
    this.around.meter.nested(() => this.page(found, name, new Map(), new Scope(scope, true)));
  }

  private imported(
    statement: Extract<Statement, { kind: 'import' | 'from' }>,
    scope: Scope,
    page: Page,
  ): Map<string, Value> {
    const name = this.templateName(statement.template, scope, page);
    const source = this.load(name, statement.at);
    return this.around.meter.nested(() => {
      const surroundings = statement.withContext ? scope : this.root;
      let exports = new Map<string, Value>();
      this.captured(() => {
        exports = this.page(source, name, new Map(), new Scope(surroundings, true)).exports;
      });
      return exports;
    });
  }

  private templateName(expression: Expression, scope: Scope, page: Page): string {
    const value = this.value(expression, scope, page);
    if (typeof value === 'string' && value !== '') return value;
    throw new TemplateError('The name of a template is expected here.', expression.at);
  }

  private load(name: string, at: Position | undefined): Statement[] {
    const source = this.around.template(name);
    if (!source) throw new TemplateError(`There is no template "${name.slice(0, 200)}".`, at);
    return source;
  }

  private choose(statement: Extract<Statement, { kind: 'switch' }>, scope: Scope, page: Page): void {
    const on = this.value(statement.on, scope, page);
    // As in Nunjucks: cases without a body fall through to the next one that has something.
    const start = statement.cases.findIndex(({ value }) => isSame(on, this.value(value, scope, page)));
    if (start === -1) return this.run(statement.otherwise, scope, page);
    const chosen = statement.cases.slice(start).find(({ body }) => body.length > 0);
    this.run(chosen?.body ?? statement.otherwise, scope, page);
  }

  /** A macro sees what is at the top of its template, not what is around its call. */
  private macro(
    name: string,
    parameters: Parameter[],
    body: Statement[],
    scope: Scope,
    page: Page,
  ): Callable {
    return new Callable(name, (positional, named) =>
      this.around.meter.nested(() => {
        const inner = new Scope(scope, true);
        parameters.forEach(({ name: parameter, byDefault }, index) => {
          const given = index < positional.length ? positional[index] : named.get(parameter);
          const value = given === undefined && byDefault ? this.value(byDefault, inner, page) : given;
          inner.declare(parameter, value);
        });
        if (named.has('caller')) inner.declare('caller', named.get('caller'));
        return this.captured(() =>
          this.within(page, () => this.run(body, inner, { ...page, isMuted: false })),
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
      this.around.meter.make(text.length);
      return this.around.isMarkup ? new SafeText(text, 'html') : text;
    } finally {
      this.output = outer;
    }
  }

  private translate([key, ...values]: Value[]): Value {
    const name = toText(key, this.around.meter);
    const text = this.around.translate(name) ?? name.slice(name.indexOf(':') + 1);
    this.around.meter.make(text.length);
    return text.replace(/\{(\d{1,2})\}/g, (placeholder, index: string) => {
      const value = values[Number(index)];
      return value === undefined ? placeholder : this.filterContext.text(value);
    });
  }

  /** Remembers a variable that has no value. */
  private note(expression: Expression, value: Value): void {
    if (value === null || this.missing.size >= NAMES_MISSING_MAX) return;
    const path = pathOf(withoutFilters(expression));
    if (path !== undefined) this.missing.add(path);
  }

  private value(expression: Expression, scope: Scope, page: Page): Value {
    this.around.meter.step();
    switch (expression.kind) {
      case 'literal':
        return expression.value;
      case 'name':
        return scope.get(expression.name);
      case 'array':
        this.around.meter.make(expression.items.length);
        return expression.items.map((item) => this.value(item, scope, page));
      case 'dict':
        this.around.meter.make(expression.entries.length);
        return new Map(
          expression.entries.map(({ key, value }) => [
            this.filterContext.text(this.value(key, scope, page)),
            this.value(value, scope, page),
          ]),
        );
      case 'member':
        return this.member(
          this.value(expression.target, scope, page),
          this.value(expression.key, scope, page),
        );
      case 'call':
        return this.call(expression, scope, page);
      case 'filter':
        return this.filter(expression, scope, page);
      case 'test': {
        const { positional } = this.args(expression.arguments, scope, page);
        return this.test(
          expression.name,
          this.value(expression.input, scope, page),
          positional,
          expression.at,
        );
      }
      case 'binary':
        return this.binary(expression, scope, page);
      case 'compare':
        return this.compare(expression, scope, page);
      case 'and': {
        const left = this.value(expression.left, scope, page);
        return isTruthy(left) ? this.value(expression.right, scope, page) : left;
      }
      case 'or': {
        const left = this.value(expression.left, scope, page);
        return isTruthy(left) ? left : this.value(expression.right, scope, page);
      }
      case 'in':
        return this.isIn(
          this.value(expression.left, scope, page),
          this.value(expression.right, scope, page),
          expression.at,
        );
      case 'not':
        return !isTruthy(this.value(expression.of, scope, page));
      case 'negative':
        return -toNumber(this.value(expression.of, scope, page));
      case 'positive':
        return toNumber(this.value(expression.of, scope, page));
      case 'conditional':
        if (isTruthy(this.value(expression.condition, scope, page)))
          return this.value(expression.then, scope, page);
        return expression.otherwise ? this.value(expression.otherwise, scope, page) : '';
      case 'capture':
        return this.captured(() => this.run(expression.body, scope, { ...page, isMuted: false }));
      case 'caller':
        return this.macro('caller', expression.parameters, expression.body, scope, page);
    }
  }

  private member(target: Value, key: Value): Value {
    if (target instanceof Map) return target.get(this.filterContext.text(key));
    if (typeof target === 'string' || target instanceof SafeText || Array.isArray(target)) {
      const list = target instanceof SafeText ? target.text : target;
      if (key === 'length') return list.length;
      const index = typeof key === 'number' ? key : /^\d+$/.test(String(key)) ? Number(key) : undefined;
      if (index !== undefined) return list[index];
    }
    return typeof key === 'string' ? methodOf(target, key, this.filterContext) : undefined;
  }

  private args({ positional, named }: Arguments, scope: Scope, page: Page) {
    return {
      positional: positional.map((one) => this.value(one, scope, page)),
      named: new Map(named.map(({ name, value }) => [name, this.value(value, scope, page)])),
    };
  }

  private call(expression: Extract<Expression, { kind: 'call' }>, scope: Scope, page: Page): Value {
    const target = this.value(expression.target, scope, page);
    if (!(target instanceof Callable)) {
      const name = pathOf(expression.target) ?? 'this';
      throw new TemplateError(`"${name}" is nothing that can be called.`, expression.at);
    }
    const { positional, named } = this.args(expression.arguments, scope, page);
    return this.locate(expression.at, () => target.call(positional, named));
  }

  private filter(expression: Extract<Expression, { kind: 'filter' }>, scope: Scope, page: Page): Value {
    const apply = Object.hasOwn(filters, expression.name) ? filters[expression.name] : undefined;
    if (!apply) throw new TemplateError(`There is no filter "${expression.name}".`, expression.at);
    const input = this.value(expression.input, scope, page);
    if (input === undefined && !['default', 'd'].includes(expression.name))
      this.note(expression.input, input);
    const { positional, named } = this.args(expression.arguments, scope, page);
    this.around.meter.make(sizeOf(input));
    return this.locate(expression.at, () => apply(input, positional, named, this.filterContext));
  }

  private test(name: string, value: Value, args: Value[], at: Position | undefined): boolean {
    const apply = Object.hasOwn(tests, name) ? tests[name] : undefined;
    if (!apply) throw new TemplateError(`There is no test "${name}".`, at);
    return apply(value, args);
  }

  /** Gives a failure without a place the place of its call. */
  private locate<Result>(at: Position, work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      if (error instanceof TemplateError && error.at === undefined)
        throw new TemplateError(error.message, at, error.template);
      throw error;
    }
  }

  private binary(expression: Extract<Expression, { kind: 'binary' }>, scope: Scope, page: Page): Value {
    const left = this.value(expression.left, scope, page);
    const right = this.value(expression.right, scope, page);
    switch (expression.operator) {
      case '~':
        return this.join(left, right);
      case '+':
        if (isText(left) || isText(right)) return this.join(left, right);
        return toNumber(left) + toNumber(right);
      case '-':
        return toNumber(left) - toNumber(right);
      case '*':
        return toNumber(left) * toNumber(right);
      case '/':
        return toNumber(left) / toNumber(right);
      case '//':
        return Math.floor(toNumber(left) / toNumber(right));
      case '%':
        return toNumber(left) % toNumber(right);
      case '**':
        return toNumber(left) ** toNumber(right);
    }
  }

  private join(left: Value, right: Value): string {
    const text = [this.filterContext.text(left), this.filterContext.text(right)];
    this.around.meter.make(text[0]!.length + text[1]!.length);
    return text[0]! + text[1]!;
  }

  private compare(expression: Extract<Expression, { kind: 'compare' }>, scope: Scope, page: Page): boolean {
    let left = this.value(expression.first, scope, page);
    for (const { operator, value } of expression.rest) {
      const right = this.value(value, scope, page);
      if (!compareValues(operator, left, right)) return false;
      left = right;
    }
    return true;
  }

  private isIn(item: Value, list: Value, at: Position): boolean {
    this.around.meter.make(sizeOf(list));
    if (Array.isArray(list)) return list.some((one) => isSame(one, item));
    if (list instanceof Map) return list.has(this.filterContext.text(item));
    if (isText(list)) return this.filterContext.text(list).includes(this.filterContext.text(item));
    if (list === undefined || list === null) return false;
    throw new TemplateError('"in" looks into lists, dictionaries and texts.', at);
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

const isText = (value: Value): value is string | SafeText =>
  typeof value === 'string' || value instanceof SafeText;
const plain = (value: Value): Value => (value instanceof SafeText ? value.text : value);

/** Strict equality, where the same text is the same whether it is marked safe or not. */
export const isSame = (left: Value, right: Value): boolean => plain(left) === plain(right);

function isLoosely(left: Value, right: Value): boolean {
  const [one, other] = [plain(left) ?? null, plain(right) ?? null];
  if (one === other) return true;
  const areNumeric = [one, other].every((value) => ['number', 'string', 'boolean'].includes(typeof value));
  return areNumeric && typeof one !== typeof other && toNumber(one) === toNumber(other);
}

function compareValues(operator: string, left: Value, right: Value): boolean {
  switch (operator) {
    case '==':
      return isLoosely(left, right);
    case '!=':
      return !isLoosely(left, right);
    case '===':
      return isSame(left, right);
    case '!==':
      return !isSame(left, right);
  }
  const areTexts = isText(left) && isText(right);
  const [one, other] = areTexts
    ? [String(plain(left)), String(plain(right))]
    : [toNumber(left), toNumber(right)];
  if (operator === '<') return one < other;
  if (operator === '>') return one > other;
  return operator === '<=' ? one <= other : one >= other;
}

/** Filters pass what they are given; what is missing is their input. */
const withoutFilters = (expression: Expression): Expression =>
  expression.kind === 'filter' && expression.name !== 'default' && expression.name !== 'd'
    ? withoutFilters(expression.input)
    : expression;

/** `customer.name` for an expression that is a path. */
export function pathOf(expression: Expression): string | undefined {
  if (expression.kind === 'name') return expression.name;
  if (expression.kind !== 'member') return undefined;
  const target = pathOf(expression.target);
  if (target === undefined) return undefined;
  const { key } = expression;
  if (key.kind !== 'literal') return `${target}[]`;
  return typeof key.value === 'string' ? `${target}.${key.value}` : `${target}[]`;
}
