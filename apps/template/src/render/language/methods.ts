import type { FilterContext } from './filter-context';
import { Callable, SafeText, sizeOf, toNumber, type Value } from './values';

type Method<Target> = (target: Target, args: Value[], context: FilterContext) => Value;

const optionalNumber = (value: Value): number | undefined =>
  value === undefined ? undefined : toNumber(value);

function repeatedTo(length: number, context: FilterContext): number {
  context.meter.make(length);
  return length;
}

const ofText: Readonly<Record<string, Method<string>>> = {
  toUpperCase: (text) => text.toUpperCase(),
  toLowerCase: (text) => text.toLowerCase(),
  trim: (text) => text.trim(),
  startsWith: (text, [part], { text: str }) => text.startsWith(str(part)),
  endsWith: (text, [part], { text: str }) => text.endsWith(str(part)),
  includes: (text, [part], { text: str }) => text.includes(str(part)),
  indexOf: (text, [part], { text: str }) => text.indexOf(str(part)),
  charAt: (text, [index]) => text.charAt(toNumber(index)),
  slice: (text, [start, end]) => text.slice(optionalNumber(start), optionalNumber(end)),
  substring: (text, [start, end]) => text.substring(toNumber(start), optionalNumber(end)),
  split: (text, [separator], { text: str, meter }) => {
    const parts = text.split(str(separator));
    meter.make(parts.length);
    return parts;
  },
  replace: (text, [part, by], context) => replaceText(text, context.text(part), context.text(by), 1, context),
  padStart: (text, [length, fill], context) =>
    text.padStart(repeatedTo(toNumber(length), context), fill === undefined ? ' ' : context.text(fill)),
  padEnd: (text, [length, fill], context) =>
    text.padEnd(repeatedTo(toNumber(length), context), fill === undefined ? ' ' : context.text(fill)),
};

const ofList: Readonly<Record<string, Method<Value[]>>> = {
  push: (list, items, { meter }) => {
    meter.make(items.length);
    return list.push(...items);
  },
  pop: (list) => list.pop(),
  join: (list, [separator], { text }) => list.map(text).join(separator === undefined ? ',' : text(separator)),
  includes: (list, [item]) => list.includes(item),
  indexOf: (list, [item]) => list.indexOf(item),
  slice: (list, [start, end]) => list.slice(optionalNumber(start), optionalNumber(end)),
  concat: (list, others, { meter }) => {
    const all = [...list, ...others.flat(1)];
    meter.make(all.length);
    return all;
  },
};

const ofNumber: Readonly<Record<string, Method<number>>> = {
  toFixed: (number, [digits]) => number.toFixed(Math.min(Math.max(toNumber(digits ?? 0) || 0, 0), 20)),
  toString: (number: number) => String(number),
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
