import type { FilterContext } from './filter-context';
import { operandOf } from './operators';
import { Callable, SafeText, sizeOf, type Value } from './values';

type Method<Target> = (target: Target, args: Value[], context: FilterContext) => Value;

const numberOf = (value: Value, { meter }: FilterContext): number => operandOf(value, meter);

/** An index or a length; where it is not given, the method has a default of its own. */
const optional = (value: Value, context: FilterContext): number | undefined =>
  value === undefined ? undefined : numberOf(value, context);

function counted(length: number, { meter }: FilterContext): number {
  meter.make(Math.max(0, length) || 0);
  return length;
}

const padding = (fill: Value, { text }: FilterContext): string => (fill === undefined ? ' ' : text(fill));

const ofText: Readonly<Record<string, Method<string>>> = {
  at: (text, [index], context) => text.at(numberOf(index, context)),
  charAt: (text, [index], context) => text.charAt(numberOf(index, context)),
  charCodeAt: (text, [index], context) => text.charCodeAt(numberOf(index, context)),
  codePointAt: (text, [index], context) => text.codePointAt(numberOf(index, context)),
  concat: (text, others, { word }) => text.concat(...others.map(word)),
  endsWith: (text, [part, end], context) => text.endsWith(context.word(part), optional(end, context)),
  includes: (text, [part, start], context) => text.includes(context.word(part), optional(start, context)),
  indexOf: (text, [part, start], context) => text.indexOf(context.word(part), optional(start, context)),
  lastIndexOf: (text, [part, end], context) => text.lastIndexOf(context.word(part), optional(end, context)),
  padEnd: (text, [length, fill], context) =>
    text.padEnd(counted(numberOf(length, context), context), padding(fill, context)),
  padStart: (text, [length, fill], context) =>
    text.padStart(counted(numberOf(length, context), context), padding(fill, context)),
  repeat: (text, [count], context) => {
    const times = Math.max(0, Math.trunc(numberOf(count, context)) || 0);
    counted(text.length * times, context);
    return text.repeat(times);
  },
  replace: (text, [part, by], context) => replaceText(text, context.word(part), context.word(by), 1, context),
  replaceAll: (text, [part, by], context) =>
    replaceText(text, context.word(part), context.word(by), Number.POSITIVE_INFINITY, context),
  slice: (text, [start, end], context) => text.slice(optional(start, context), optional(end, context)),
  split: (text, [separator, max], context) => {
    const parts =
      separator === undefined ? [text] : text.split(context.word(separator), optional(max, context));
    context.meter.make(parts.length);
    return parts;
  },
  startsWith: (text, [part, start], context) => text.startsWith(context.word(part), optional(start, context)),
  substr: (text, [start, length], context) => {
    const from = Math.trunc(numberOf(start, context)) || 0;
    const first = from < 0 ? Math.max(0, text.length + from) : from;
    const count = optional(length, context) ?? text.length;
    return text.slice(first, first + Math.max(0, Math.trunc(count) || 0));
  },
  substring: (text, [start, end], context) =>
    text.substring(numberOf(start, context), optional(end, context)),
  toLowerCase: (text) => text.toLowerCase(),
  toString: (text: string) => text,
  toUpperCase: (text) => text.toUpperCase(),
  trim: (text) => text.trim(),
  trimEnd: (text) => text.trimEnd(),
  trimStart: (text) => text.trimStart(),
};

const ofList: Readonly<Record<string, Method<Value[]>>> = {
  at: (list, [index], context) => list.at(numberOf(index, context)),
  concat: (list, others, { meter }) => {
    const all = [...list, ...others.flat(1)];
    meter.make(all.length);
    return all;
  },
  includes: (list, [item]) => list.includes(item),
  indexOf: (list, [item]) => list.indexOf(item),
  join: (list, [separator], { text, word }) =>
    list.map(text).join(separator === undefined ? ',' : word(separator)),
  lastIndexOf: (list, [item]) => list.lastIndexOf(item),
  pop: (list) => list.pop(),
  push: (list, items, { meter }) => {
    meter.make(items.length);
    return list.push(...items);
  },
  reverse: (list) => list.reverse(),
  shift: (list) => list.shift(),
  slice: (list, [start, end], context) => list.slice(optional(start, context), optional(end, context)),
  toString: (list: Value[], _args: Value[], { text }: FilterContext) => text(list),
  unshift: (list, items, { meter }) => {
    meter.make(items.length);
    return list.unshift(...items);
  },
};

/** A number of digits, as far as JavaScript takes it. */
const digits = (value: Value, least: number, most: number, context: FilterContext): number =>
  Math.min(Math.max(Math.trunc(numberOf(value, context)) || 0, least), most);

const ofNumber: Readonly<Record<string, Method<number>>> = {
  toFixed: (number, [count], context) => number.toFixed(digits(count, 0, 100, context)),
  toPrecision: (number, [count], context) =>
    count === undefined ? String(number) : number.toPrecision(digits(count, 1, 100, context)),
  toString: (number: number, [radix]: Value[], context: FilterContext) =>
    number.toString(radix === undefined ? 10 : digits(radix, 2, 36, context)),
};

/** A method of a value: these few, and nothing that JavaScript would add to them. */
export function methodOf(target: Value, name: string, context: FilterContext): Value {
  if (typeof target === 'string') return bound(ofText, target, name, context);
  if (target instanceof SafeText) return bound(ofText, target.text, name, context);
  if (Array.isArray(target)) return bound(ofList, target, name, context);
  return typeof target === 'number' ? bound(ofNumber, target, name, context) : undefined;
}

function bound<Target extends Value>(
  methods: Readonly<Record<string, Method<Target>>>,
  target: Target,
  name: string,
  context: FilterContext,
): Value {
  const method = Object.hasOwn(methods, name) ? methods[name] : undefined;
  if (!method) return undefined;
  return new Callable(name, (args) => {
    context.meter.make(sizeOf(target));
    const result = method(target, args, context);
    context.meter.make(sizeOf(result));
    return result;
  });
}

/** Replaces a text, at most `count` times; what comes out is counted before it is made. */
export function replaceText(
  text: string,
  part: string,
  by: string,
  count: number,
  { meter }: Pick<FilterContext, 'meter'>,
): string {
  if (part === '') {
    const characters = [...text].slice(0, Math.min(count, text.length));
    meter.make(text.length + by.length * (characters.length + 1));
    const head = characters.map((character) => by + character).join('');
    return head + text.slice(characters.join('').length) + (characters.length < count ? by : '');
  }
  const pieces = text.split(part);
  meter.make(pieces.length + text.length + by.length * Math.min(count, pieces.length - 1));
  const replaced = pieces.slice(0, count + 1).join(by);
  return pieces.length > count + 1 ? [replaced, ...pieces.slice(count + 1)].join(part) : replaced;
}
