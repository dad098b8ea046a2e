import { compareValues, isSame, operandOf } from './operators';
import { Callable, isText, isTruthy, SafeText, type Value, type Visits } from './values';

type Test = (value: Value, args: Value[], visits: Visits) => boolean;

const plain = (value: Value): Value => (value instanceof SafeText ? value.text : value);
const equals: Test = (value, [other]) => isSame(value, other);
const comparing =
  (operator: '<' | '<=' | '>' | '>='): Test =>
  (value, [other], visits) =>
    compareValues(operator, value, other, visits);
const remainder = (value: Value, by: number, visits: Visits): number => operandOf(value, visits) % by;

/** What may stand after `is`: the tests of Nunjucks, and some of Jinja. */
export const tests: Readonly<Record<string, Test>> = {
  boolean: (value) => typeof value === 'boolean',
  callable: (value) => value instanceof Callable,
  defined: (value) => value !== undefined,
  divisibleby: (value, [by], visits) => remainder(value, operandOf(by, visits), visits) === 0,
  eq: equals,
  equalto: equals,
  escaped: (value) => value instanceof SafeText,
  even: (value, _args, visits) => remainder(value, 2, visits) === 0,
  falsy: (value) => !isTruthy(value),
  ge: comparing('>='),
  greaterthan: comparing('>'),
  gt: comparing('>'),
  iterable: (value) => Array.isArray(value) || isText(value),
  le: comparing('<='),
  lessthan: comparing('<'),
  lower: (value) => isText(value) && plain(value) === String(plain(value)).toLowerCase(),
  lt: comparing('<'),
  mapping: (value) => value instanceof Map,
  ne: (value, [other]) => !isSame(value, other),
  none: (value) => value === null,
  null: (value) => value === null,
  number: (value) => typeof value === 'number',
  object: (value) => value instanceof Map,
  odd: (value, _args, visits) => remainder(value, 2, visits) === 1,
  sameas: equals,
  string: (value) => isText(value),
  truthy: (value) => isTruthy(value),
  undefined: (value) => value === undefined,
  upper: (value) => isText(value) && plain(value) === String(plain(value)).toUpperCase(),
};
