import { escapeHtml } from '../escape';
import type { FilterContext } from '../filter-context';
import { replaceText } from '../methods';
import { operandOf } from '../operators';
import { isText, isTruthy, memberOf, SafeText, type Value } from '../values';
import { argument, asSafeAs, changingText, isNothing, itemsOf, textOf, type Filter } from './filter';

const capitalized = (text: string): string => {
  const lower = text.toLowerCase();
  return lower.charAt(0).toUpperCase() + lower.slice(1);
};

/** How long Nunjucks takes a value for: that of a list is its number of items, a number has none. */
const lengthOf = (input: Value, { meter }: FilterContext): number =>
  isNothing(input) || input === false ? 0 : operandOf(memberOf(input, 'length'), meter);

const center: Filter = (input, [width], _named, context) => {
  const { meter } = context;
  const text = textOf(input, context);
  const total = isTruthy(width) ? operandOf(width, meter) : 80;
  const missing = total - lengthOf(input, context);
  if (missing <= 0) return input || '';
  if (Number.isNaN(missing)) return text;
  meter.make(total + text.length);
  const before = ' '.repeat(Math.max(0, Math.ceil(missing / 2 - (missing % 2))));
  return asSafeAs(input, before + text + ' '.repeat(Math.ceil(missing / 2)));
};

const indent = changingText((text, [width, first], { meter }) => {
  if (text === '') return '';
  const lines = text.split('\n');
  const count = isTruthy(width) ? Math.max(0, Math.ceil(operandOf(width, meter)) || 0) : 4;
  meter.make(text.length + count * lines.length);
  const space = ' '.repeat(count);
  return lines.map((line, index) => (index > 0 || isTruthy(first) ? space + line : line)).join('\n');
});

/** A text that comes into another one: as safe as that one. */
const inserted = (value: Value, into: Value, context: FilterContext): Value =>
  into instanceof SafeText && into.safeIn === 'html' && !(value instanceof SafeText)
    ? new SafeText(escapeHtml(context.text(value)), 'html')
    : value;

const truncate: Filter = (input, [length, killsWords, end], _named, context) => {
  const max = isTruthy(length) ? operandOf(length, context.meter) : 255;
  if (lengthOf(input, context) <= max) return input || '';
  const text = textOf(input, context);
  const space = text.lastIndexOf(' ', max);
  const cut = text.substring(0, isTruthy(killsWords) || space === -1 ? max : space);
  const dots = isNothing(end) ? '...' : context.text(inserted(end, input, context));
  return asSafeAs(input, cut.toWellFormed() + dots);
};

/** What comes out of markup is text again: what is replaced in a tag, and by what, may be data. */
const replace: Filter = (input, [part, by, count], _named, context) => {
  const isReplaceable = typeof input === 'number' || isText(input);
  if (!isReplaceable || !(typeof part === 'number' || isText(part))) return input;
  const text = context.text(input);
  const old = context.text(part);
  const between = context.word(by);
  if (old === '') {
    context.meter.make((text.length + 1) * (between.length + 1));
    return between + [...text].join(between) + between;
  }
  const max =
    count === undefined || count === -1 ? Number.POSITIVE_INFINITY : operandOf(count, context.meter);
  return replaceText(text, old, between, Math.max(0, Math.ceil(max) || 0), context);
};

/** Text without tags and comments, read once from left to right. */
function withoutTags(text: string): string {
  const tag = /<\/?[a-z][a-z0-9]*(?!\w)/iy;
  let kept = '';
  let from = 0;
  let hasComments = true;
  for (let at = text.indexOf('<'); at !== -1; at = text.indexOf('<', at)) {
    tag.lastIndex = at;
    const isComment: boolean = hasComments && text.startsWith('<!--', at);
    const isTag = tag.test(text);
    const close: number = isTag
      ? text.indexOf('>', tag.lastIndex)
      : isComment
        ? text.indexOf('-->', at + 4)
        : -1;
    if (isTag && close === -1) break;
    hasComments &&= !isComment || close !== -1;
    if (close === -1) {
      at++;
      continue;
    }
    kept += text.slice(from, at);
    from = close + (isTag ? 1 : 3);
    at = from;
  }
  return kept + text.slice(from);
}

const striptags = changingText((text, [keepsLines]) => {
  const plain = withoutTags(text).trim();
  return isTruthy(keepsLines)
    ? plain
        .replace(/ +/g, ' ')
        .replace(/^ | $/gm, '')
        .replace(/\r\n/g, '\n')
        .replace(/\n{3,}/g, '\n\n')
    : plain.replace(/\s+/g, ' ');
});

const reverse: Filter = (input, _args, _named, context) => {
  const items = itemsOf(input, context).toReversed();
  return isText(input) ? items.join('') : items;
};

/** A number that a value begins with, else the second argument. */
const reading =
  (read: (text: string, base: Value) => number): Filter =>
  (input, args, named, context) => {
    const number = read(context.word(input), argument(args, named, 1, 'base'));
    return Number.isNaN(number) ? argument(args, named, 0, 'default') : number;
  };

const round: Filter = (input, [digits, method], _named, { meter }) => {
  const round = method === 'ceil' ? Math.ceil : method === 'floor' ? Math.floor : Math.round;
  const factor = 10 ** (isTruthy(digits) ? operandOf(digits, meter) : 0);
  return round(operandOf(input, meter) * factor) / factor;
};

/** What Nunjucks does with texts and numbers. */
export const textFilters: Readonly<Record<string, Filter>> = {
  abs: (input, _args, _named, { meter }) => Math.abs(operandOf(input, meter)),
  capitalize: changingText(capitalized),
  center,
  float: reading((text) => Number.parseFloat(text)),
  indent,
  int: reading((text, base) => Number.parseInt(text, base === undefined ? 10 : Number(base))),
  lower: changingText((text) => text.toLowerCase()),
  replace,
  reverse,
  round,
  string: (input, _args, _named, context) => (input instanceof SafeText ? input : context.text(input)),
  striptags,
  title: changingText((text) => text.split(' ').map(capitalized).join(' ')),
  trim: changingText((text) => text.trim()),
  truncate,
  upper: changingText((text) => text.toUpperCase()),
  wordcount: (input, _args, _named, context): Value =>
    isTruthy(input) ? (context.text(input).match(/\w+/g)?.length ?? null) : null,
};
