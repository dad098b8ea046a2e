/** The part of JSON Schema that the contracts use. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  additionalProperties?: boolean | Schema;
  maxLength?: number;
  minLength?: number;
  maximum?: number;
  minimum?: number;
  maxItems?: number;
  minItems?: number;
  pattern?: string;
}

/** `in`: what clients send; `out`: what clients receive. Different changes break them. */
export type Direction = 'in' | 'out';
export type Lookup = (reference: string) => Schema | undefined;

interface Side {
  schema: Schema;
  lookup: Lookup;
}

/** How a changed schema breaks clients of the old one: one sentence each, beginning with the place. */
export function breaksOfShape(
  before: Side,
  after: Side,
  direction: Direction,
  place: string,
  seen: ReadonlySet<string> = new Set(),
): string[] {
  const was = resolve(before);
  const is = resolve(after);
  const pair = `${before.schema.$ref} ${after.schema.$ref}`;
  if (before.schema.$ref !== undefined && seen.has(pair)) return [];
  const inside = new Set([...seen, pair]);
  const go = (old: Schema, now: Schema, where: string) =>
    breaksOfShape({ ...before, schema: old }, { ...after, schema: now }, direction, where, inside);

  return [
    ...breaksOfType(was, is, direction, place),
    ...breaksOfLimits(was, is, direction, place),
    ...breaksOfProperties(was, is, direction, place, go),
    ...(was.items && is.items ? go(was.items, is.items, `${place}[]`) : []),
    ...choices(was).flatMap((choice, index) => {
      const same = choices(is)[index];
      return same ? go(choice, same, place) : [];
    }),
  ];
}

const choices = ({ anyOf, oneOf }: Schema): Schema[] => anyOf ?? oneOf ?? [];

function resolve({ schema, lookup }: Side): Schema {
  return schema.$ref === undefined ? schema : (lookup(schema.$ref) ?? {});
}

function breaksOfType(was: Schema, is: Schema, direction: Direction, place: string): string[] {
  const [old, now] = [typesOf(was), typesOf(is)];
  const [lost, gained] = [
    old.filter((type) => !now.includes(type)),
    now.filter((type) => !old.includes(type)),
  ];
  if (old.length > 0 && now.length > 0) {
    if (direction === 'in' && lost.length > 0) return [`${place} no longer takes ${lost.join(', ')}`];
    if (direction === 'out' && gained.length > 0) return [`${place} may now be ${gained.join(', ')}`];
  }
  const [words, newWords] = [wordsOf(was), wordsOf(is)];
  if (direction === 'out' || !newWords) return [];
  if (!words) return [`${place} now takes only ${listed(newWords)}`];
  const missing = words.filter((word) => !newWords.includes(word));
  return missing.length > 0 ? [`${place} no longer takes ${listed(missing)}`] : [];
}

/** The values that a schema lists one by one; undefined where it takes any. */
const wordsOf = (schema: Schema): unknown[] | undefined =>
  schema.const === undefined ? schema.enum : [schema.const];

const listed = (words: unknown[]): string => words.map((word) => JSON.stringify(word)).join(', ');

function typesOf(schema: Schema): string[] {
  const own = [schema.type ?? []].flat();
  return [...own, ...choices(schema).flatMap((choice) => [choice.type ?? []].flat())];
}

const upper = ['maxLength', 'maximum', 'maxItems'] as const;
const lower = ['minLength', 'minimum', 'minItems'] as const;

function breaksOfLimits(was: Schema, is: Schema, direction: Direction, place: string): string[] {
  if (direction === 'out') return [];
  const bounds = { ...was, maxLength: was.maxLength ?? longestMatchOf(was.pattern) };
  return [
    ...upper
      .filter((limit) => (is[limit] ?? Infinity) < (bounds[limit] ?? Infinity))
      .map((limit) => `${place} takes less than before (${limit} ${is[limit]})`),
    ...lower
      .filter((limit) => (is[limit] ?? -Infinity) > (was[limit] ?? -Infinity))
      .map((limit) => `${place} requires more than before (${limit} ${is[limit]})`),
    ...(is.pattern !== undefined && is.pattern !== was.pattern ? [`${place} must match ${is.pattern}`] : []),
  ];
}

/** How long a text is at most that matches a pattern of character classes, such as `^[a-z][a-z0-9]{0,9}$`. */
function longestMatchOf(pattern: string | undefined): number | undefined {
  if (pattern === undefined || !/^\^(?:\[[^[\]\\]+\](?:\{\d+(?:,\d+)?\})?)+\$$/.test(pattern))
    return undefined;
  const classes = [...pattern.matchAll(/\](?:\{(?:\d+,)?(\d+)\})?/g)];
  return classes.reduce((length, [, repetitions = '1']) => length + Number(repetitions), 0);
}

function breaksOfProperties(
  was: Schema,
  is: Schema,
  direction: Direction,
  place: string,
  go: (old: Schema, now: Schema, where: string) => string[],
): string[] {
  const [old, now] = [was.properties ?? {}, is.properties ?? {}];
  const isRequired = (schema: Schema, name: string) => schema.required?.includes(name) === true;
  const known = Object.entries(old).flatMap(([name, schema]) => {
    const where = `${place}.${name}`;
    const same = now[name];
    if (!same) return is.properties ? [`${where} is gone`] : [];
    const lessSure = direction === 'out' && isRequired(was, name) && !isRequired(is, name);
    const moreWanted = direction === 'in' && !isRequired(was, name) && isRequired(is, name);
    return [
      ...(lessSure ? [`${where} may now be absent`] : []),
      ...(moreWanted ? [`${where} is now required`] : []),
      ...go(schema, same, where),
    ];
  });
  const added = Object.keys(now).filter((name) => !(name in old) && isRequired(is, name));
  return [
    ...known,
    ...(direction === 'in' ? added.map((name) => `${place}.${name} is new and required`) : []),
  ];
}
