import { Callable, SafeText, toText, type Value, type Visits } from './values';

/*
 * The operators of JavaScript, to which Nunjucks compiles its own: what they make of values of different types is
 * part of the language that templates are written in.
 */

type Primitive = undefined | null | boolean | number | string;

function primitiveOf(value: Value, visits: Visits): Primitive {
  if (value instanceof SafeText) return value.text;
  return Array.isArray(value) || value instanceof Map || value instanceof Callable
    ? toText(value, visits)
    : value;
}

/** A value as an operand of arithmetic; NaN where it is no number. */
export const operandOf = (value: Value, visits: Visits): number => Number(primitiveOf(value, visits));

/** Adds numbers, or puts texts together; `join` makes the text, so that it can be counted. */
export function add(
  left: Value,
  right: Value,
  visits: Visits,
  join: (left: string, right: string) => string,
): Value {
  const one = primitiveOf(left, visits);
  const other = primitiveOf(right, visits);
  return typeof one === 'string' || typeof other === 'string'
    ? join(String(one), String(other))
    : Number(one) + Number(other);
}

const plain = (value: Value): Value => (value instanceof SafeText ? value.text : value);

/** Strict equality, where the same text is the same whether it is marked safe or not. */
export const isSame = (left: Value, right: Value): boolean => plain(left) === plain(right);

const isReference = (value: Value): boolean => typeof value === 'object' && !(value instanceof SafeText);

/** Equality across types: `1 == "1"`, and missing values equal null. */
function isLooselyEqual(left: Value, right: Value, visits: Visits): boolean {
  if (isSame(left, right)) return true;
  const isNothing = (value: Value): boolean => value === undefined || value === null;
  if (isNothing(left) || isNothing(right)) return isNothing(left) && isNothing(right);
  if (isReference(left) && isReference(right)) return false;
  const one = primitiveOf(left, visits);
  const other = primitiveOf(right, visits);
  return typeof one === typeof other ? one === other : Number(one) === Number(other);
}

/** Compares two values by one of the operators of the language. */
export function compareValues(operator: string, left: Value, right: Value, visits: Visits): boolean {
  switch (operator) {
    case '==':
      return isLooselyEqual(left, right, visits);
    case '!=':
      return !isLooselyEqual(left, right, visits);
    case '===':
      return isSame(left, right);
    case '!==':
      return !isSame(left, right);
  }
  const one = primitiveOf(left, visits);
  const other = primitiveOf(right, visits);
  return typeof one === 'string' && typeof other === 'string'
    ? isOrdered(operator, one, other)
    : isOrdered(operator, Number(one), Number(other));
}

function isOrdered<Operand extends string | number>(
  operator: string,
  left: Operand,
  right: Operand,
): boolean {
  if (operator === '<') return left < right;
  if (operator === '>') return left > right;
  return operator === '<=' ? left <= right : left >= right;
}
