import type { FilterContext } from '../filter-context';
import { escapeHtml } from '../escape';
import { add, compareValues, isSame, operandOf } from '../operators';
import { dictOf, isText, isTruthy, memberOf, SafeText, sizeOf, type Value } from '../values';
import { argument, fail, isNothing, itemsOf, type Filter } from './filter';

/** `customer.name` of an item; a member that has this very name comes first. */
function attributeOf(item: Value, path: string): Value {
  const own = memberOf(item, path);
  return own === undefined && path.includes('.')
    ? path.split('.').reduce<Value>((value, part) => memberOf(value, part), item)
    : own;
}

/** What a filter looks at in each item: the item itself, or the attribute that was named. */
const keyOf = (attribute: Value, context: FilterContext): ((item: Value) => Value) =>
  isTruthy(attribute) ? (item) => attributeOf(item, context.text(attribute)) : (item) => item;

/**
 * The order of two values. Texts without their case are in the order of the rendering's language; everything else is
 * compared as `<` and `>` do.
 */
function orderOf(isCaseSensitive: boolean, context: FilterContext): (left: Value, right: Value) => number {
  const collator = new Intl.Collator(context.culture, { sensitivity: 'accent' });
  const { meter } = context;
  return (left, right) => {
    meter.step(2);
    if (!isCaseSensitive && isText(left) && isText(right))
      return collator.compare(context.text(left).toLowerCase(), context.text(right).toLowerCase());
    if (compareValues('<', left, right, meter)) return -1;
    return compareValues('>', left, right, meter) ? 1 : 0;
  };
}

const sort: Filter = (input, args, named, context) => {
  const direction = isTruthy(argument(args, named, 0, 'reverse')) ? -1 : 1;
  const order = orderOf(isTruthy(argument(args, named, 1, 'case_sensitive')), context);
  const key = keyOf(argument(args, named, 2, 'attribute'), context);
  return itemsOf(input, context).toSorted((left, right) => direction * order(key(left), key(right)));
};

const dictsort: Filter = (input, args, named, context) => {
  if (!(input instanceof Map)) return fail('dictsort sorts dictionaries.');
  const isCaseSensitive = isTruthy(argument(args, named, 0, 'case_sensitive'));
  const order = orderOf(isCaseSensitive, context);
  const by = argument(args, named, 1, 'by');
  if (by !== undefined && by !== 'key' && by !== 'value')
    return fail('dictsort sorts by "key" or by "value".');
  const part = by === 'value' ? 1 : 0;
  context.meter.make(input.size);
  const pairs = [...input].map(([key, value]): Value[] => [key, value]);
  return pairs.sort((left, right) => {
    const [one, other] = [left[part], right[part]];
    if (isText(one) && isText(other)) return order(one, other);
    const folded = (value: Value): Value =>
      isText(value) && !isCaseSensitive ? context.text(value).toUpperCase() : value;
    if (compareValues('>', folded(one), folded(other), context.meter)) return 1;
    return isSame(one, other) ? 0 : -1;
  });
};

const groupby: Filter = (input, [attribute], _named, context) => {
  const key = keyOf(attribute, context);
  const groups = new Map<string, Value[]>();
  for (const item of itemsOf(input, context)) {
    const name = context.word(key(item));
    const group = groups.get(name);
    if (group) group.push(item);
    else groups.set(name, [item]);
  }
  return dictOf(groups);
};

/** Items for which a test holds, or does not hold. */
const picking =
  (isWanted: boolean): Filter =>
  (input, [name, ...args], _named, context) =>
    itemsOf(input, context).filter((item) => {
      context.meter.step(2);
      const holds = name === undefined ? isTruthy(item) : context.test(context.text(name), item, args);
      return holds === isWanted;
    });

/** As `picking`, by an attribute of the items; without a test, by whether it is true. */
const pickingByAttribute =
  (isWanted: boolean): Filter =>
  (input, [attribute, ...test], named, context) => {
    const key = keyOf(attribute, context);
    const holds = picking(true);
    return itemsOf(input, context).filter(
      (item) => (holds([key(item)], test, named, context) as Value[]).length > 0 === isWanted,
    );
  };

const sum: Filter = (input, args, named, context) => {
  const key = keyOf(argument(args, named, 0, 'attribute'), context);
  const start = argument(args, named, 1, 'start');
  const { meter } = context;
  const plus = (left: Value, right: Value): Value =>
    add(left, right, meter, (one, other) => {
      meter.make(one.length + other.length);
      return one + other;
    });
  const total = itemsOf(input, context).reduce<Value>((sofar, item) => {
    meter.step();
    return plus(sofar, key(item));
  }, 0);
  return plus(start === undefined ? 0 : start, total);
};

const batch: Filter = (input, args, named, context) => {
  const { meter } = context;
  const items = itemsOf(input, context);
  const count = operandOf(argument(args, named, 0, 'linecount'), meter);
  const fill = argument(args, named, 1, 'fill_with');
  const rows: Value[][] = [];
  items.forEach((item, index) => {
    if (rows.length === 0 || index % count === 0) rows.push([]);
    rows.at(-1)!.push(item);
  });
  const last = rows.at(-1);
  if (last && isTruthy(fill)) {
    for (let length = last.length; length < count; length++) {
      meter.make(1);
      last.push(fill);
    }
  }
  return rows;
};

const slice: Filter = (input, args, named, context) => {
  const items = itemsOf(input, context);
  const count = operandOf(argument(args, named, 0, 'slices'), context.meter);
  const fill = argument(args, named, 1, 'fill_with');
  const length = Math.floor(items.length / count);
  const longer = items.length % count;
  const slices: Value[] = [];
  let start = 0;
  for (let index = 0; index < count; index++) {
    context.meter.make(1);
    const end = start + length + (index < longer ? 1 : 0);
    const part = items.slice(start, end);
    start = end;
    const piece = isTruthy(fill) && index >= longer ? [...part, fill] : part;
    slices.push(isText(input) ? piece.map(context.text).join('') : piece);
  }
  return slices;
};

const join: Filter = (input, args, named, context) => {
  const separator = argument(args, named, 0, 'separator');
  const parts = itemsOf(input, context).map(keyOf(argument(args, named, 1, 'attribute'), context));
  const between = isTruthy(separator) ? separator : '';
  const isSafe = context.isMarkup && [...parts, between].some((part) => part instanceof SafeText);
  const textOf = (part: Value): string =>
    isSafe && !(part instanceof SafeText) ? escapeHtml(context.text(part)) : context.text(part);
  context.meter.make(context.text(between).length * parts.length);
  const text = parts.map(textOf).join(textOf(between));
  context.meter.make(text.length);
  return isSafe ? new SafeText(text, 'html') : text;
};

const pairsAsDicts = (dict: Iterable<[string, Value]>): Value[] =>
  [...dict].map(([key, value]) =>
    dictOf([
      ['key', key],
      ['value', value],
    ]),
  );

const list: Filter = (input, _args, _named, context) => {
  if (!(input instanceof Map)) return itemsOf(input, context);
  context.meter.make(input.size);
  return pairsAsDicts(input);
};

const length: Filter = (input) => {
  if (isNothing(input) || input === false) return 0;
  return Array.isArray(input) || isText(input) || input instanceof Map ? sizeOf(input) : undefined;
};

const byDefault: Filter = (input, args, named) => {
  const whenFalsy = isTruthy(argument(args, named, 1, 'boolean'));
  return (whenFalsy ? isTruthy(input) : input !== undefined) ? input : argument(args, named, 0, 'default');
};

/** What Nunjucks does with lists and dictionaries. */
export const listFilters: Readonly<Record<string, Filter>> = {
  batch,
  d: byDefault,
  default: byDefault,
  dictsort,
  first: (input, _args, _named, context) =>
    input instanceof Map ? input.get('0') : itemsOf(input, context)[0],
  groupby,
  join,
  last: (input, _args, _named, context) => itemsOf(input, context).at(-1),
  length,
  list,
  random: (input, _args, _named, context) => {
    const items = itemsOf(input, context);
    return items[Math.floor(Math.random() * items.length)];
  },
  reject: picking(false),
  rejectattr: pickingByAttribute(false),
  select: picking(true),
  selectattr: pickingByAttribute(true),
  slice,
  sort,
  sum,
};
