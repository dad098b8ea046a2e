/**
 * Where markup is known to be harmless: `html` in text and quoted attributes (it was escaped or written by the author
 * in a template), `script` is JSON that may stand in a script, `anywhere` was declared safe by the template's author.
 */
export type SafeIn = 'html' | 'script' | 'anywhere';

/** Text that is not escaped again. */
export class SafeText {
  constructor(
    readonly text: string,
    readonly safeIn: SafeIn,
  ) {}
}

/** Something a template can call. It is never a function of the host, only code of this folder. */
export class Callable {
  constructor(
    readonly name: string,
    readonly call: (positional: Value[], named: ReadonlyMap<string, Value>) => Value,
  ) {}
}

/** All a template can ever hold in its hands. Objects of the caller's data are maps, so there is no prototype. */
export type Value = undefined | null | boolean | number | string | SafeText | Callable | Value[] | Dict;
export type Dict = Map<string, Value>;

/** Turns parsed JSON into values. */
export function toValue(json: unknown): Value {
  if (Array.isArray(json)) return json.map(toValue);
  if (typeof json === 'object' && json !== null) {
    return new Map(Object.entries(json).map(([key, member]) => [key, toValue(member)]));
  }
  return typeof json === 'string' || typeof json === 'number' || typeof json === 'boolean' ? json : null;
}

/** A dictionary whose keys are in the order of JavaScript: whole numbers first, then the others as they came. */
export function dictOf(entries: Iterable<readonly [string, Value]>): Dict {
  const members: Record<string, Value> = Object.create(null);
  for (const [key, value] of entries) members[key] = value;
  return new Map(Object.entries(members));
}

/** Counts the parts of a value as they are visited: values may contain each other, and themselves. */
export interface Visits {
  nested<Result>(work: () => Result): Result;
  make(size: number): void;
}

/** Turns values into what JSON can say; callables are left out. */
export function toJson(value: Value, visits: Visits): unknown {
  visits.make(sizeOf(value));
  if (value instanceof SafeText) return value.text;
  if (Array.isArray(value)) return visits.nested(() => value.map((item) => toJson(item, visits)));
  if (value instanceof Map) {
    return visits.nested(() => {
      const json: Record<string, unknown> = Object.create(null);
      for (const [key, member] of value) json[key] = toJson(member, visits);
      return json;
    });
  }
  return value instanceof Callable ? undefined : value;
}

/** How a value reads in the output, where a missing one is empty. */
export function toText(value: Value, visits: Visits): string {
  if (typeof value === 'string') return value;
  if (value === undefined || value === null || value instanceof Callable) return '';
  if (value instanceof SafeText) return value.text;
  if (Array.isArray(value)) {
    visits.make(value.length);
    return visits.nested(() => {
      const text = value.map((item) => toText(item, visits)).join(',');
      visits.make(text.length);
      return text;
    });
  }
  return value instanceof Map ? '[object Object]' : String(value);
}

/** What a value has under a name: a member of a dictionary, an item or character, or a length. */
export function memberOf(target: Value, name: string): Value {
  if (target instanceof Map) return target.get(name);
  const list = target instanceof SafeText ? target.text : target;
  if (typeof list !== 'string' && !Array.isArray(list)) return undefined;
  if (name === 'length') return list.length;
  return /^(0|[1-9]\d*)$/.test(name) ? list[Number(name)] : undefined;
}

/** What counts as true in a condition. */
export const isTruthy = (value: Value): boolean =>
  value instanceof SafeText ? value.text !== '' : Boolean(value);

/** What stands in a text made of a value: a missing one reads as the word for it. */
export const toWord = (value: Value, visits: Visits): string =>
  value === undefined || value === null ? String(value) : toText(value, visits);

/** A value as a number; NaN where it is none, as nothing and empty text are. */
export function toNumber(value: Value): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'boolean') return Number(value);
  const text = value instanceof SafeText ? value.text : value;
  return typeof text === 'string' && text.trim() !== '' ? Number(text) : Number.NaN;
}

/** The size of a value as work and memory count it. */
export function sizeOf(value: Value): number {
  if (typeof value === 'string') return value.length;
  if (value instanceof SafeText) return value.text.length;
  if (Array.isArray(value)) return value.length;
  return value instanceof Map ? value.size : 1;
}

export const isText = (value: Value): value is string | SafeText =>
  typeof value === 'string' || value instanceof SafeText;
