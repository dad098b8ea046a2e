import { formatMessage, placeholderCount } from '@plinth/kernel/message';
import { headOf } from '@plinth/kernel/text';
import type { FilterContext } from './filter-context';
import { filters } from './filters';
import type { Frame } from './frame';
import { methodOf } from './methods';
import type { RenderContext } from './render-context';
import type { Scope } from './scope';
import { add, compareValues, isSame, operandOf } from './operators';
import {
  pathOf,
  TemplateError,
  type Arguments,
  type Expression,
  type Parameter,
  type Position,
  type Statement,
} from './syntax';
import { tests } from './tests';
import {
  Callable,
  dictOf,
  isText,
  isTruthy,
  memberOf,
  sizeOf,
  toText,
  toWord,
  type Value,
  type Visits,
} from './values';

/** Statements inside expressions: the bodies of `set`, `filter` and `call`. */
interface Bodies {
  /** What the statements write, as a value. */
  capture(statements: readonly Statement[], scope: Scope, frame: Frame): Value;
  macro(name: string, parameters: Parameter[], body: Statement[], scope: Scope, frame: Frame): Callable;
}

const MISSING_NAMES_MAX = 200;
/** What is longer is cut: a name may be as long as a template, and who writes one finds it by its beginning. */
const MISSING_NAME_LENGTH_MAX = 200;

export class ExpressionEvaluator {
  /** Variables that have no value, as dotted paths; of long ones the beginning. */
  readonly missing = new Set<string>();
  private readonly filterContext: FilterContext;

  constructor(
    private readonly context: RenderContext,
    private readonly bodies: Bodies,
  ) {
    const { culture, timeZone, isMarkup, meter } = context;
    this.filterContext = {
      culture,
      timeZone,
      isMarkup,
      meter,
      text: (value) => toText(value, meter),
      word: (value) => toWord(value, meter),
      test: (name, value, args) => this.test(name, value, args, undefined),
    };
  }

  value(expression: Expression, scope: Scope, frame: Frame): Value {
    this.context.meter.step();
    switch (expression.kind) {
      case 'literal':
        return expression.value;
      case 'name':
        return this.variable(expression.name, scope, frame);
      case 'array':
        this.context.meter.make(expression.items.length);
        return expression.items.map((item) => this.value(item, scope, frame));
      case 'dict':
        this.context.meter.make(expression.entries.length);
        return dictOf(
          expression.entries.map(({ key, value }) => [
            this.filterContext.text(this.value(key, scope, frame)),
            this.value(value, scope, frame),
          ]),
        );
      case 'member':
        return this.member(
          this.value(expression.target, scope, frame),
          this.value(expression.key, scope, frame),
        );
      case 'call':
        return this.call(expression, scope, frame);
      case 'filter':
        return this.filter(expression, scope, frame);
      case 'test': {
        const { positional } = this.args(expression.arguments, scope, frame);
        return this.test(
          expression.name,
          this.value(expression.input, scope, frame),
          positional,
          expression.at,
        );
      }
      case 'binary':
        return this.binary(expression, scope, frame);
      case 'compare':
        return this.compare(expression, scope, frame);
      case 'and': {
        const left = this.value(expression.left, scope, frame);
        return isTruthy(left) ? this.value(expression.right, scope, frame) : left;
      }
      case 'or': {
        const left = this.value(expression.left, scope, frame);
        return isTruthy(left) ? left : this.value(expression.right, scope, frame);
      }
      case 'in':
        return this.isIn(
          this.value(expression.left, scope, frame),
          this.value(expression.right, scope, frame),
          expression.at,
        );
      case 'not':
        return !isTruthy(this.value(expression.of, scope, frame));
      case 'negative':
        return -operandOf(this.value(expression.of, scope, frame), this.context.meter);
      case 'positive':
        return operandOf(this.value(expression.of, scope, frame), this.context.meter);
      case 'conditional':
        if (isTruthy(this.value(expression.condition, scope, frame)))
          return this.value(expression.then, scope, frame);
        return expression.otherwise ? this.value(expression.otherwise, scope, frame) : '';
      case 'capture':
        return this.bodies.capture(expression.body, scope, frame);
      case 'caller':
        return this.bodies.macro('caller', expression.parameters, expression.body, scope, frame);
    }
  }

  private variable(name: string, scope: Scope, frame: Frame): Value {
    const owner = scope.having(name);
    return owner ? owner.own(name) : frame.context.get(name);
  }

  /** A member of a value, or one of the methods that texts, lists and numbers have. */
  member(target: Value, key: Value): Value {
    const name = toWord(key, this.context.meter);
    const found = memberOf(target, name);
    return found === undefined && !(target instanceof Map)
      ? methodOf(target, name, this.filterContext)
      : found;
  }

  private args({ positional, named }: Arguments, scope: Scope, frame: Frame) {
    return {
      positional: positional.map((one) => this.value(one, scope, frame)),
      named: new Map(named.map(({ name, value }) => [name, this.value(value, scope, frame)])),
    };
  }

  private call(expression: Extract<Expression, { kind: 'call' }>, scope: Scope, frame: Frame): Value {
    const target = this.value(expression.target, scope, frame);
    if (!(target instanceof Callable)) {
      const name = pathOf(expression.target) ?? 'this';
      throw new TemplateError(`"${name}" cannot be called.`, expression.at);
    }
    const { positional, named } = this.args(expression.arguments, scope, frame);
    return this.locate(expression.at, () => target.call(positional, named));
  }

  private filter(expression: Extract<Expression, { kind: 'filter' }>, scope: Scope, frame: Frame): Value {
    const apply = Object.hasOwn(filters, expression.name) ? filters[expression.name] : undefined;
    if (!apply) throw new TemplateError(`There is no filter "${expression.name}".`, expression.at);
    const input = this.value(expression.input, scope, frame);
    if (input === undefined && !['default', 'd'].includes(expression.name))
      this.recordMissing(expression.input, input);
    const { positional, named } = this.args(expression.arguments, scope, frame);
    this.context.meter.make(sizeOf(input));
    return this.locate(expression.at, () => apply(input, positional, named, this.filterContext));
  }

  private test(name: string, value: Value, args: Value[], at: Position | undefined): boolean {
    const apply = Object.hasOwn(tests, name) ? tests[name] : undefined;
    if (!apply) throw new TemplateError(`There is no test "${name}".`, at);
    return apply(value, args, this.context.meter);
  }

  /** Gives an error without a position the position of its call. */
  private locate<Result>(at: Position, work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      if (error instanceof TemplateError && error.at === undefined)
        throw new TemplateError(error.message, at, error.template);
      throw error;
    }
  }

  private binary(expression: Extract<Expression, { kind: 'binary' }>, scope: Scope, frame: Frame): Value {
    const left = this.operand(expression.left, scope, frame);
    const right = this.operand(expression.right, scope, frame);
    const { meter } = this.context;
    const number = (value: Value): number => operandOf(value, meter);
    switch (expression.operator) {
      case '~':
        return this.join(toWord(left, meter), toWord(right, meter));
      case '+':
        return add(left, right, meter, (one, other) => this.join(one, other));
      case '-':
        return number(left) - number(right);
      case '*':
        return number(left) * number(right);
      case '/':
        return number(left) / number(right);
      case '//':
        return Math.floor(number(left) / number(right));
      case '%':
        return number(left) % number(right);
      case '**':
        return number(left) ** number(right);
    }
  }

  /** The value of an operand; a missing one shows in the result. */
  private operand(expression: Expression, scope: Scope, frame: Frame): Value {
    const value = this.value(expression, scope, frame);
    if (value === undefined) this.recordMissing(expression, value);
    return value;
  }

  private join(left: string, right: string): string {
    this.context.meter.make(left.length + right.length);
    return left + right;
  }

  private compare(expression: Extract<Expression, { kind: 'compare' }>, scope: Scope, frame: Frame): boolean {
    const left = this.value(expression.left, scope, frame);
    const right = this.value(expression.right, scope, frame);
    return compareValues(expression.operator, left, right, this.context.meter);
  }

  private isIn(item: Value, list: Value, at: Position): boolean {
    this.context.meter.make(sizeOf(list));
    if (Array.isArray(list)) return list.some((one) => isSame(one, item));
    if (list instanceof Map) return list.has(toWord(item, this.context.meter));
    if (isText(list)) return this.filterContext.text(list).includes(toWord(item, this.context.meter));
    throw new TemplateError('"in" takes a list, a dictionary or a text.', at);
  }

  /** `t("Order:lines", count, name=customer)`: values by place, by name, or all names in one dictionary. */
  translate([key, ...positional]: Value[], named: ReadonlyMap<string, Value>): Value {
    const { meter, culture, timeZone } = this.context;
    const name = toText(key, meter);
    const text = this.context.translate(name) ?? name.slice(name.indexOf(':') + 1);
    const [only] = positional;
    const members = positional.length === 1 && only instanceof Map ? [...only] : [];
    const given = [
      ...members,
      ...[...positional].map((value, index) => [String(index), value] as const),
      ...named,
    ];
    const values = given.map(([placeholder, value]) => [placeholder, messageValue(value, meter)] as const);
    const written = values.reduce((size, [, value]) => size + writtenLength(value), 0);
    meter.make(text.length + placeholderCount(text) * written);
    return formatMessage(text, Object.fromEntries(values), { culture, timeZone });
  }

  /** Remembers that a variable has no value. */
  recordMissing(expression: Expression, value: Value): void {
    if (value === null || this.missing.size >= MISSING_NAMES_MAX) return;
    const path = pathOf(withoutFilters(expression));
    if (path !== undefined) this.missing.add(headOf(path, MISSING_NAME_LENGTH_MAX));
  }
}

/** Filters pass what they are given; what is missing is their input. */
const withoutFilters = (expression: Expression): Expression =>
  expression.kind === 'filter' && expression.name !== 'default' && expression.name !== 'd'
    ? withoutFilters(expression.input)
    : expression;

/** `String` writes a large number with its power of ten, and a culture with all of its up to 309 digits in groups. */
const NUMBER_LENGTH_MAX = 420;

const writtenLength = (value: string | number | undefined): number =>
  Math.max(String(value).length, Math.abs(Number(value)) >= 1e21 ? NUMBER_LENGTH_MAX : 0);

const messageValue = (value: Value, visits: Visits): string | number | undefined =>
  value === undefined || typeof value === 'number' ? value : toText(value, visits);
