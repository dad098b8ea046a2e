import { Callable, isTruthy, SafeText, toNumber, type Value } from './values';

type Test = (value: Value, args: Value[]) => boolean;

const plain = (value: Value): Value => (value instanceof SafeText ? value.text : value);
const text = (value: Value): string => (typeof plain(value) === 'string' ? String(plain(value)) : '');
const isSame: Test = (value, [other]) => plain(value) === plain(other);
const comparing =
  (compare: (left: number | string, right: number | string) => boolean): Test =>
  (value, [other]) => {
    const areTexts = typeof plain(value) === 'string' && typeof plain(other) === 'string';
    return areTexts ? compare(text(value), text(other)) : compare(toNumber(value), toNumber(other ?? null));
  };

/** What may stand after `is`: the tests of Nunjucks. */
export const tests: Readonly<Record<string, Test>> = {
  callable: (value) => value instanceof Callable,
  defined: (value) => value !== undefined,
  undefined: (value) => value === undefined,
  none: (value) => value === null,
  null: (value) => value === null,
  divisibleby: (value, [by]) => toNumber(value) % toNumber(by) === 0,
  escaped: (value) => value instanceof SafeText,
  even: (value) => toNumber(value) % 2 === 0,
  odd: (value) => Math.abs(toNumber(value) % 2) === 1,
  equalto: isSame,
  eq: isSame,
  sameas: isSame,
  ne: (value, args) => !isSame(value, args),
  falsy: (value) => !isTruthy(value),
  truthy: (value) => isTruthy(value),
  ge: comparing((left, right) => left >= right),
  gt: comparing((left, right) => left > right),
  greaterthan: comparing((left, right) => left > right),
  le: comparing((left, right) => left <= right),
  lt: comparing((left, right) => left < right),
  lessthan: comparing((left, right) => left < right),
  lower: (value) => text(value) === text(value).toLowerCase(),
  upper: (value) => text(value) === text(value).toUpperCase(),
  number: (value) => typeof value === 'number',
  string: (value) => typeof plain(value) === 'string',
  boolean: (value) => typeof value === 'boolean',
  iterable: (value) => Array.isArray(value) || typeof plain(value) === 'string',
  mapping: (value) => value instanceof Map,
  object: (value) => value instanceof Map,
};
