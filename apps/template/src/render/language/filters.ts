import { escapeHtml, escapeJson } from './escape';
import { formatDate, formatNumber, readDate } from './formats';
import type { FilterContext } from './filter-context';
import { replaceText } from './methods';
import { TemplateError } from './syntax';
import { isTruthy, SafeText, sizeOf, toJson, toNumber, type Dict, type Value } from './values';

type Named = ReadonlyMap<string, Value>;
type Filter = (input: Value, args: Value[], named: Named, context: FilterContext) => Value;

const fail = (message: string): never => {
  throw new TemplateError(message, undefined);
};

/** A change of text; what was safe is safe afterwards only where the change keeps markup whole. */
const onText =
  (change: (text: string, args: Value[], context: FilterContext) => string): Filter =>
  (input, args, _named, context) => {
    if (input === undefined || input === null) return '';
    const text = change(context.text(input), args, context);
    context.meter.make(text.length);
    return input instanceof SafeText && input.safeIn === 'html'
      ? new SafeText(escapeAgain(text), 'html')
      : text;
  };

/** Markup that was cut or changed may be broken now; what is not a whole entity or tag is escaped. */
const escapeAgain = (text: string): string =>
  text.replace(/<(?![a-z/!])|&(?!#?\w+;)/gi, escapeHtml).replace(/<[^>]*$/, escapeHtml);

const onNumber =
  (change: (number: number, args: Value[], named: Named, context: FilterContext) => Value): Filter =>
  (input, args, named, context) => {
    const number = toNumber(input);
    return Number.isNaN(number) ? (input ?? '') : change(number, args, named, context);
  };

/** The items of a list; a text is a list of its characters, a dictionary one of its values. */
function itemsOf(input: Value, { meter }: FilterContext): Value[] {
  meter.make(sizeOf(input));
  if (Array.isArray(input)) return input;
  if (input instanceof Map) return [...input.values()];
  if (typeof input === 'string') return [...input];
  return input instanceof SafeText ? [...input.text] : [];
}

const onList =
  (change: (items: Value[], args: Value[], named: Named, context: FilterContext) => Value): Filter =>
  (input, args, named, context) =>
    change(itemsOf(input, context), args, named, context);

/** `customer.name` of an item. */
const attributeOf = (item: Value, path: string): Value =>
  path
    .split('.')
    .reduce<Value>(
      (value, part) =>
        value instanceof Map
          ? value.get(part)
          : Array.isArray(value) && /^\d+$/.test(part)
            ? value[Number(part)]
            : undefined,
      item,
    );

const argument = (args: Value[], named: Named, index: number, name: string): Value =>
  args[index] ?? named.get(name);

/** The order of numbers, else of texts in the language of the rendering. */
function compareWith(culture: string, isCaseSensitive: boolean, context: FilterContext) {
  const collator = new Intl.Collator(culture, { sensitivity: isCaseSensitive ? 'variant' : 'base' });
  return (left: Value, right: Value): number => {
    context.meter.step(2);
    if (typeof left === 'number' && typeof right === 'number') return left - right;
    return collator.compare(context.text(left), context.text(right));
  };
}

const sort: Filter = onList((items, args, named, context) => {
  const isReversed = isTruthy(argument(args, named, 0, 'reverse'));
  const isCaseSensitive = isTruthy(argument(args, named, 1, 'case_sensitive'));
  const attribute = argument(args, named, 2, 'attribute');
  const compare = compareWith(context.culture, isCaseSensitive, context);
  const keyOf = (item: Value): Value =>
    attribute === undefined ? item : attributeOf(item, context.text(attribute));
  const sorted = items.toSorted((left, right) => compare(keyOf(left), keyOf(right)));
  return isReversed ? sorted.reverse() : sorted;
});

const dictsort: Filter = (input, args, named, context) => {
  if (!(input instanceof Map)) return fail('dictsort sorts dictionaries.');
  const isCaseSensitive = isTruthy(argument(args, named, 0, 'case_sensitive'));
  const by = argument(args, named, 1, 'by') === 'value' ? 1 : 0;
  const compare = compareWith(context.culture, isCaseSensitive, context);
  context.meter.make(input.size);
  return [...input]
    .map(([key, value]): Value[] => [key, value])
    .sort((left, right) => compare(left[by], right[by]));
};

const groupby: Filter = onList((items, [attribute], _named, context) => {
  const groups: Dict = new Map();
  for (const item of items) {
    const key = context.text(attributeOf(item, context.text(attribute)));
    const group = groups.get(key);
    if (Array.isArray(group)) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
});

const picking = (byAttribute: boolean, keeps: boolean): Filter =>
  onList((items, args, _named, context) => {
    const [attribute, ...rest] = byAttribute ? args : [undefined, ...args];
    const [name, ...testArguments] = rest;
    return items.filter((item) => {
      context.meter.step(2);
      const value = byAttribute ? attributeOf(item, context.text(attribute)) : item;
      const holds =
        name === undefined ? isTruthy(value) : context.test(context.text(name), value, testArguments);
      return holds === keeps;
    });
  });

const sum: Filter = onList((items, args, named, context) => {
  const attribute = argument(args, named, 0, 'attribute');
  const start = toNumber(argument(args, named, 1, 'start') ?? 0);
  return items.reduce<number>((total, item) => {
    context.meter.step();
    const number = toNumber(attribute === undefined ? item : attributeOf(item, context.text(attribute)));
    return total + (Number.isNaN(number) ? 0 : number);
  }, start);
});

const batch: Filter = onList((items, args, named, { meter }) => {
  const size = Math.max(1, Math.floor(toNumber(argument(args, named, 0, 'linecount')) || 1));
  const fill = argument(args, named, 1, 'fill_with');
  const rows: Value[] = [];
  for (let start = 0; start < items.length; start += size) {
    const row = items.slice(start, start + size);
    if (fill !== undefined && row.length < size) {
      meter.make(size);
      row.push(...Array<Value>(size - row.length).fill(fill));
    }
    rows.push(row);
  }
  return rows;
});

const slice: Filter = onList((items, args, named, { meter }) => {
  const count = Math.max(1, Math.floor(toNumber(argument(args, named, 0, 'slices')) || 1));
  const fill = argument(args, named, 1, 'fill_with');
  meter.make(count);
  const length = Math.floor(items.length / count);
  const longer = items.length % count;
  return Array.from({ length: count }, (_, index): Value => {
    const start = index * length + Math.min(index, longer);
    const part = items.slice(start, start + length + (index < longer ? 1 : 0));
    return fill !== undefined && index >= longer && longer > 0 ? [...part, fill] : part;
  });
});

const join: Filter = onList((items, args, named, context) => {
  const separator = argument(args, named, 0, 'separator');
  const attribute = argument(args, named, 1, 'attribute');
  const parts = items.map((item) =>
    attribute === undefined ? item : attributeOf(item, context.text(attribute)),
  );
  const between = separator === undefined ? '' : context.text(separator);
  context.meter.make(between.length * parts.length);
  const isSafe = context.isMarkup && [...parts, separator].some((part) => part instanceof SafeText);
  const textOf = (part: Value): string =>
    isSafe && !(part instanceof SafeText) ? escapeHtml(context.text(part)) : context.text(part);
  const text = parts.map(textOf).join(separator === undefined ? '' : textOf(separator));
  context.meter.make(text.length);
  return isSafe ? new SafeText(text, 'html') : text;
});

const roundBy = (number: number, digits: number, method: string): number => {
  const round = method === 'ceil' ? Math.ceil : method === 'floor' ? Math.floor : Math.round;
  const factor = 10 ** Math.min(Math.max(digits || 0, -15), 15);
  // Through the decimal text, so that 1.005 is not 1.00499999999999989.
  return round(Number(`${(number * factor).toPrecision(15)}`)) / factor;
};

const digitsOf = (args: Value[], named: Named): Intl.NumberFormatOptions => {
  const digits = argument(args, named, 0, 'digits');
  if (digits === undefined) return {};
  const count = Math.min(Math.max(Math.floor(toNumber(digits)) || 0, 0), 20);
  return { minimumFractionDigits: count, maximumFractionDigits: count };
};

const cultureOf = (named: Named, context: FilterContext): string => {
  const culture = named.get('culture');
  return culture === undefined ? context.culture : context.text(culture);
};

const currency: Filter = onNumber((number, args, named, context) => {
  const code = argument(args, named, 0, 'code');
  if (code === undefined) return fail('currency takes the code of a currency, such as currency("EUR").');
  const style: Intl.NumberFormatOptions = {
    style: 'currency',
    currency: context.text(code),
    ...digitsOf(args.slice(1), named),
  };
  return formatNumber(number, { culture: cultureOf(named, context), ...style });
});

const dating =
  (parts: 'date' | 'time' | 'both'): Filter =>
  (input, args, named, context) => {
    if (input === undefined || input === null || input === '') return '';
    const value = input instanceof SafeText ? input.text : input;
    const read = typeof value === 'string' || typeof value === 'number' ? readDate(value) : undefined;
    if (!read) return context.text(input);
    const style = argument(args, named, 0, 'style');
    const zone = argument(args, named, 1, 'zone');
    return formatDate(read.instant, read.isWholeDay && parts === 'date', {
      culture: cultureOf(named, context),
      timeZone: zone === undefined || zone === '' ? context.timeZone : context.text(zone),
      style: style === undefined ? 'medium' : context.text(style),
      parts,
    });
  };

const escape: Filter = (input, _args, _named, context) => {
  if (input instanceof SafeText) return input;
  const text = context.text(input);
  context.meter.make(text.length);
  return new SafeText(escapeHtml(text), 'html');
};

const urlencode: Filter = (input, _args, _named, context) => {
  const encode = (value: Value): string => encodeURIComponent(context.text(value).toWellFormed());
  if (input instanceof Map)
    return [...input].map(([key, value]) => `${encode(key)}=${encode(value)}`).join('&');
  if (Array.isArray(input)) {
    return input
      .map((pair) => (Array.isArray(pair) ? pair : [pair, '']))
      .map(([key, value]) => `${encode(key)}=${encode(value)}`)
      .join('&');
  }
  return encode(input);
};

const urlize: Filter = (input, args, named, context) => {
  const text = context.text(input);
  const length = toNumber(argument(args, named, 0, 'length') ?? Number.POSITIVE_INFINITY);
  const parts = text.split(/(\s+)/).map((word) => {
    const [, open, address, close] =
      /^([<("']*)((?:https?:\/\/|www\.)[^\s<>"']*?)([.,)"'!?>;]*)$/i.exec(word) ?? [];
    if (address === undefined) return escapeHtml(word);
    const href = escapeHtml(address.startsWith('www.') ? `http://${address}` : address);
    return `${escapeHtml(open!)}<a href="${href}" rel="nofollow">${escapeHtml(address.slice(0, length))}</a>${escapeHtml(close!)}`;
  });
  const linked = parts.join('');
  context.meter.make(linked.length);
  return context.isMarkup ? new SafeText(linked, 'html') : text;
};

const dump: Filter = (input, [spaces], _named, context) => {
  const indent = spaces === undefined ? 0 : Math.min(toNumber(spaces) || 0, 10);
  const json = JSON.stringify(toJson(input, context.meter), null, indent) ?? 'null';
  context.meter.make(json.length);
  return context.isMarkup ? new SafeText(escapeJson(json), 'script') : json;
};

const nl2br: Filter = (input, _args, _named, context) => {
  const text = context.text(input);
  const safe = input instanceof SafeText ? text : escapeHtml(text);
  context.meter.make(safe.length * 2);
  return context.isMarkup ? new SafeText(safe.replace(/\r\n|\n/g, '<br />\n'), 'html') : text;
};

const truncate: Filter = (input, [length, killWords, end], named, context) =>
  cut(input, [length, killWords, inserted(end, input, context)], named, context);

/** A text that comes into another one: as safe as that one. */
const inserted = (value: Value, into: Value, context: FilterContext): Value =>
  into instanceof SafeText && into.safeIn === 'html' && value !== undefined && !(value instanceof SafeText)
    ? new SafeText(escapeHtml(context.text(value)), 'html')
    : value;

const cut = onText((text, [length, killWords, end], context) => {
  const max = length === undefined ? 255 : toNumber(length);
  if (text.length <= max) return text;
  const cut = text.slice(0, max);
  const whole = isTruthy(killWords)
    ? cut
    : cut.slice(0, cut.lastIndexOf(' ') > 0 ? cut.lastIndexOf(' ') : max);
  return whole.toWellFormed() + (end === undefined ? '...' : context.text(end));
});

const indent = onText((text, [width, first], context) => {
  const lines = text.split('\n');
  const count = width === undefined ? 4 : Math.max(0, toNumber(width) || 0);
  context.meter.make(text.length + count * lines.length);
  const space = ' '.repeat(count);
  return lines.map((line, index) => (index > 0 || isTruthy(first) ? space + line : line)).join('\n');
});

const center = onText((text, [width], context) => {
  const total = width === undefined ? 80 : toNumber(width) || 0;
  context.meter.make(total);
  const before = Math.max(0, Math.floor((total - text.length) / 2));
  return ' '.repeat(before) + text + ' '.repeat(Math.max(0, total - text.length - before));
});

const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1).toLowerCase();

const length: Filter = (input) =>
  input === undefined || input === null ? 0 : typeof input === 'number' ? 0 : sizeOf(input);

const byDefault: Filter = (input, args, named) => {
  const value = argument(args, named, 0, 'default');
  const whenFalsy = isTruthy(argument(args, named, 1, 'boolean'));
  return (whenFalsy ? isTruthy(input) : input !== undefined) ? input : value;
};

/** Every filter there is: those of Nunjucks, and dates, numbers and currency by culture. */
export const filters: Readonly<Record<string, Filter>> = {
  abs: onNumber((number) => Math.abs(number)),
  batch,
  capitalize: onText(capitalize),
  center,
  currency,
  d: byDefault,
  date: dating('date'),
  datetime: dating('both'),
  default: byDefault,
  dictsort,
  dump,
  e: escape,
  escape,
  first: onList((items) => items[0]),
  float: (input, [otherwise]) => {
    const number = Number.parseFloat(String(input instanceof SafeText ? input.text : input));
    return Number.isNaN(number) ? (otherwise ?? 0) : number;
  },
  forceescape: (input, _args, _named, context) => new SafeText(escapeHtml(context.text(input)), 'html'),
  groupby,
  indent,
  int: (input, [otherwise]) => {
    const number = Number.parseInt(String(input instanceof SafeText ? input.text : input), 10);
    return Number.isNaN(number) ? (otherwise ?? 0) : number;
  },
  join,
  last: onList((items) => items.at(-1)),
  length,
  list: (input, _args, _named, context) =>
    input instanceof Map
      ? [...input].map(
          ([key, value]): Value =>
            new Map<string, Value>([
              ['key', key],
              ['value', value],
            ]),
        )
      : [...itemsOf(input, context)],
  lower: onText((text) => text.toLowerCase()),
  nl2br,
  number: onNumber((number, args, named, context) =>
    formatNumber(number, { culture: cultureOf(named, context), ...digitsOf(args, named) }),
  ),
  percent: onNumber((number, args, named, context) =>
    formatNumber(number, { culture: cultureOf(named, context), style: 'percent', ...digitsOf(args, named) }),
  ),
  random: onList((items) => items[Math.floor(Math.random() * items.length)]),
  reject: picking(false, false),
  rejectattr: picking(true, false),
  replace: (input, [part, by, count], _named, context) =>
    replaceText(
      context.text(input),
      context.text(part),
      context.text(by),
      count === undefined ? Number.POSITIVE_INFINITY : toNumber(count) || 0,
      context,
    ),
  reverse: (input, _args, _named, context) =>
    typeof input === 'string' ? [...input].reverse().join('') : itemsOf(input, context).toReversed(),
  round: onNumber((number, [digits, method], _named, context) =>
    roundBy(number, toNumber(digits ?? 0), method === undefined ? '' : context.text(method)),
  ),
  safe: (input, _args, _named, context) =>
    input instanceof SafeText && input.safeIn === 'anywhere'
      ? input
      : new SafeText(context.text(input), 'anywhere'),
  select: picking(false, true),
  selectattr: picking(true, true),
  slice,
  sort,
  string: (input, _args, _named, context) => (input instanceof SafeText ? input : context.text(input)),
  striptags: (input, [keepsLines], _named, context) => {
    const text = context.text(input).replace(/<!--[\s\S]*?-->|<\/?[a-z][^<>]*>/gi, '');
    return isTruthy(keepsLines)
      ? text
          .replace(/^ +| +$/gm, '')
          .replace(/ +/g, ' ')
          .replace(/\n{3,}/g, '\n\n')
          .trim()
      : text.replace(/\s+/g, ' ').trim();
  },
  sum,
  time: dating('time'),
  title: onText((text) => text.replace(/\S+/g, capitalize)),
  trim: onText((text) => text.trim()),
  truncate,
  upper: onText((text) => text.toUpperCase()),
  urlencode,
  urlize,
  wordcount: (input, _args, _named, context) => context.text(input).match(/\w+/g)?.length ?? 0,
};
