/**
 * The grammar of list queries: pages, sort, filters, presets, quick filters and search.
 *
 * There is one parser because list queries arrive in two forms: as query parameters of list endpoints
 * (`filter[name.contains]=x`) and as members of an export request (`{"filter": {"name.contains": "x"}}`).
 * A list declares what it allows as data, and everything it does not declare is refused with 400. The results of this
 * file are typed and safe: field names are the declared ones, values have the field's type, and no text of the caller
 * is left where a store would read it as syntax.
 */
import { isCalendarDay, isStorableInstant } from './instant';
import { repetitionsOf } from './like-pattern';
import { invalid, malformed, type Problem } from './problem';
import { isUuid } from './uuid';
import { isUnstorable, lengthOf } from './text';

export const PAGE_SIZE_DEFAULT = 20;
export const PAGE_SIZE_MAX = 100;
export const OFFSET_MAX = 10_000_000;
/** Of what is looked for inside of texts. */
export const SEARCH_LENGTH_MAX = 500;
/**
 * Of its beginning: so many characters of it are compared with each character of those texts at worst. People look for
 * numbers that are padded with zeros, to 40 places at most.
 */
const SEARCH_REPETITIONS_MAX = 40;
export const LIST_VALUES_MAX = 500;
/** Of all filters and presets of one query: as many as the longest lists of ids need, twice. An export keeps them. */
export const SELECTION_LENGTH_MAX = 65_536;
export const FILTERS_MAX = 50;
export const SORT_FIELDS_MAX = 20;
export const PRESETS_MAX = 20;
export const QUICK_FILTERS_MAX = 20;

export type FieldType = 'string' | 'integer' | 'number' | 'boolean' | 'timestamp' | 'uuid' | 'enum';

export type Operator =
  'eq' | 'contains' | 'startsWith' | 'endsWith' | 'gt' | 'gte' | 'lt' | 'lte' | 'in' | 'between';

/** The operators of a filter by the type of its field. */
export const operatorsByType: Record<FieldType, readonly Operator[]> = {
  string: ['eq', 'contains', 'startsWith', 'endsWith', 'in'],
  integer: ['eq', 'gt', 'gte', 'lt', 'lte', 'in', 'between'],
  number: ['eq', 'gt', 'gte', 'lt', 'lte', 'in', 'between'],
  boolean: ['eq'],
  timestamp: ['eq', 'gt', 'gte', 'lt', 'lte', 'between'],
  uuid: ['eq', 'in'],
  enum: ['eq', 'in'],
};

const insideOperators: ReadonlySet<Operator> = new Set(['contains', 'startsWith', 'endsWith']);
/** A beginning is compared once, an end at each place as what is inside. */
const anywhereOperators: ReadonlySet<Operator> = new Set(['contains', 'endsWith']);

const everyOperator = [...new Set(Object.values(operatorsByType).flat())];

export interface FieldRule {
  type: FieldType;
  /** For `enum`: the wire values by their names; a query may spell either. */
  values?: Record<string, string | number>;
}

/** What a list allows in its queries. */
export interface ListRules {
  filterable: Record<string, FieldRule>;
  /** Filterable fields with a parameter of their own: `status=x` means `filter[status.eq]=x`. */
  shortFilters?: readonly string[];
  sortable: readonly string[];
  /** In the syntax of the `sort` parameter. */
  defaultSort: string;
  searchable: readonly string[];
  /** Whether the list has cursor pages. */
  cursor?: boolean;
  /** Whether any page may have to pass over all rows, since no index leaves out those that a caller does not see. */
  passesOver?: boolean;
  presets?: Record<string, readonly string[]>;
  quickFilters?: readonly string[];
}

export interface SortTerm {
  field: string;
  descending: boolean;
}

export type FilterValue = string | number | boolean | Date;

export interface Filter {
  field: string;
  operator: Operator;
  /** One value; two for `between`; any number for `in`. */
  values: FilterValue[];
}

export type PageRequest =
  | { mode: 'offset'; page: number; pageSize: number; skipTotalCount: boolean }
  /** An empty cursor means the first page. */
  | { mode: 'cursor'; cursor: string; pageSize: number };

/** The part of a list query that is the same for all pages. */
export interface Selection {
  sort: SortTerm[];
  filters: Filter[];
  presets: { name: string; values: string[] }[];
  quickFilters: string[];
  search: string | undefined;
}

export interface ListQuery extends Selection {
  page: PageRequest;
}

/** Query parameters as they arrive: a repeated parameter is an array. */
export type QueryParameters = Record<string, string | string[] | undefined>;

/**
 * Reads a whole list query.
 * @throws Problem `malformed` for what the list does not allow, `invalid` for a text that is too long.
 */
export function parseListQuery(parameters: QueryParameters, rules: ListRules): ListQuery {
  refuseGrouping(parameters);
  const filters: [string, string][] = [];
  const presets: [string, string][] = [];
  for (const field of rules.shortFilters ?? []) {
    const value = single(parameters, field);
    if (value !== undefined) filters.push([`${field}.eq`, value]);
  }
  for (const name of Object.keys(parameters)) {
    const [, kind, rest = ''] = /^(filter|presets)(\W[^]*)?$/i.exec(name) ?? [];
    if (kind === undefined) continue;
    const key = /^\[(.*)\]$/.exec(rest)?.[1];
    // A client that relies on a filter must not take all items for those that match.
    if (key === undefined)
      throw malformed(`"${name}" is not read; write filter[field.operator]=value or presets[name]=value.`);
    const target = kind.toLowerCase() === 'filter' ? filters : presets;
    target.push([key, single(parameters, name) ?? '']);
  }
  return {
    page: parsePage(parameters, rules),
    sort: parseSort(single(parameters, 'sort') || rules.defaultSort, rules),
    filters: parseFilters(filters, rules),
    presets: parsePresets(presets, rules),
    quickFilters: parseQuickFilters(single(parameters, 'quickFilters') ?? '', rules),
    search: parseSearch(single(parameters, 'search')),
  };
}

/** Refuses `groupBy`: a client that relies on groups must not take a plain list for them. */
export function refuseGrouping(parameters: QueryParameters): void {
  if (Object.keys(parameters).some((name) => name.toLowerCase() === 'groupby'))
    throw malformed('Grouping (groupBy) is not available.');
}

export interface SelectionText {
  sort?: string | null | undefined;
  filter?: Record<string, string> | null | undefined;
  presets?: Record<string, string> | null | undefined;
  quickFilters?: string | null | undefined;
  search?: string | null | undefined;
}

/** Reads the part of a list query that export requests have too. */
export function parseSelection(text: SelectionText, rules: ListRules): Selection {
  requireShort(text);
  return {
    sort: parseSort(text.sort || rules.defaultSort, rules),
    filters: parseFilters(Object.entries(text.filter ?? {}), rules),
    presets: parsePresets(Object.entries(text.presets ?? {}), rules),
    quickFilters: parseQuickFilters(text.quickFilters ?? '', rules),
    search: parseSearch(text.search),
  };
}

/** A query in an address is as short as addresses are. */
function requireShort({ filter, presets }: SelectionText): void {
  const texts = [filter, presets].flatMap((named) => Object.entries(named ?? {}).flat());
  if (texts.reduce((sum, { length }) => sum + length, 0) > SELECTION_LENGTH_MAX)
    throw malformed(`Filters and presets have at most ${SELECTION_LENGTH_MAX} characters together.`);
}

/** Reads `page`, `pageSize`, `skipTotalCount` and `cursor`. */
export function parsePage(parameters: QueryParameters, rules: { cursor?: boolean }): PageRequest {
  const pageSize = Math.min(positiveInteger(parameters, 'pageSize') ?? PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX);
  const page = positiveInteger(parameters, 'page');
  const cursor = single(parameters, 'cursor');
  if (cursor !== undefined) {
    if (!rules.cursor) throw malformed('This list does not support cursors; use page and pageSize.');
    if (page !== undefined) throw malformed('Use either page or cursor, not both.');
    return { mode: 'cursor', cursor, pageSize };
  }
  if ((page ?? 1) * pageSize > OFFSET_MAX) {
    throw malformed(
      `Pages end at item ${OFFSET_MAX}; ${rules.cursor ? 'continue with a cursor' : 'use filters'}.`,
    );
  }
  return { mode: 'offset', page: page ?? 1, pageSize, skipTotalCount: flag(parameters, 'skipTotalCount') };
}

/** The value of a parameter that must not be repeated. */
export function single(parameters: QueryParameters, name: string): string | undefined {
  const value = parameters[name];
  if (Array.isArray(value)) throw malformed(`The parameter ${name} is repeated.`);
  return value;
}

function positiveInteger(parameters: QueryParameters, name: string): number | undefined {
  const text = single(parameters, name);
  if (text === undefined) return undefined;
  const value = /^\d+$/.test(text) ? Number(text) : 0;
  if (value < 1) throw malformed(`${name} must be a whole number, at least 1.`);
  return value;
}

function flag(parameters: QueryParameters, name: string): boolean {
  const text = single(parameters, name)?.toLowerCase();
  if (text === undefined || text === 'false') return false;
  if (text === 'true') return true;
  throw malformed(`${name} must be true or false.`);
}

function parseSort(text: string, rules: ListRules): SortTerm[] {
  const parts = text.split(',');
  requireAtMost(SORT_FIELDS_MAX, 'sort fields', parts);
  const terms = parts.map((part) => {
    const descending = part.trim().startsWith('-');
    const name = part.trim().slice(descending ? 1 : 0);
    const field = named(name, rules.sortable);
    if (field === undefined)
      throw malformed(`This list cannot be sorted by "${name}"; ${oneOf(rules.sortable)}.`);
    return { field, descending };
  });
  return terms.filter(({ field }, index) => terms.findIndex((term) => term.field === field) === index);
}

/** Parses filters; those that say the same, whatever their spelling, are one. */
function parseFilters(entries: readonly (readonly [string, string])[], rules: ListRules): Filter[] {
  const filters = distinct(entries.map(([key, value]) => parseFilter(key, value, rules)));
  requireAtMost(FILTERS_MAX, 'filters', filters);
  return filters;
}

function parseFilter(key: string, text: string, rules: ListRules): Filter {
  const dot = key.lastIndexOf('.');
  const fields = Object.keys(rules.filterable);
  const field = named(key.slice(0, Math.max(dot, 0)), fields);
  if (field === undefined)
    throw malformed(`This list has no filter "${key}"; fields are ${fields.join(', ')}.`);
  const rule = rules.filterable[field]!;
  const operator = named(key.slice(dot + 1), everyOperator) as Operator | undefined;
  if (operator === undefined || !operatorsByType[rule.type].includes(operator)) {
    throw malformed(
      `The field ${field} has no operator "${key.slice(dot + 1)}"; ${oneOf(operatorsByType[rule.type])}.`,
    );
  }
  const parts = operator === 'in' || operator === 'between' ? splitList(text) : [text];
  if (operator === 'between' && parts.length !== 2)
    throw malformed(`${field}.between takes two values: low,high.`);
  if (insideOperators.has(operator) && lengthOf(text) > SEARCH_LENGTH_MAX)
    throw invalid({ [`filter.${field}`]: 'MaximumLength' });
  if (anywhereOperators.has(operator) && !isQuicklyFound(text)) throw repeatsItself(`filter.${field}`);
  if (parts.length > LIST_VALUES_MAX) throw malformed(`${field}.in takes at most ${LIST_VALUES_MAX} values.`);
  return { field, operator, values: parts.map((part) => parseValue(field, part, rule)) };
}

/** Parses one value of a filter as the type of its field. */
function parseValue(field: string, text: string, rule: FieldRule): FilterValue {
  switch (rule.type) {
    case 'string':
      if (isUnstorable(text)) throw invalid({ [`filter.${field}`]: 'Format' });
      return text;
    case 'integer':
      if (/^-?\d{1,15}$/.test(text)) return Number(text);
      break;
    case 'number':
      if (/^-?\d{1,15}(\.\d{1,15})?$/.test(text)) return Number(text);
      break;
    case 'boolean':
      if (/^(true|false)$/i.test(text)) return text.toLowerCase() === 'true';
      break;
    case 'timestamp': {
      const instant = parseTimestamp(text);
      if (instant) return instant;
      break;
    }
    case 'uuid':
      if (isUuid(text)) return text.toLowerCase();
      break;
    case 'enum': {
      const values = rule.values ?? {};
      const name = named(text, Object.keys(values));
      if (name !== undefined) return values[name]!;
      const value = Object.values(values).find((known) => String(known) === text);
      if (value !== undefined) return value;
      break;
    }
  }
  throw malformed(`"${text.slice(0, 100)}" is not a valid ${rule.type} for the field ${field}.`);
}

/** Reads an ISO 8601 date or date and time; a time without a zone is UTC. */
export function parseTimestamp(text: string): Date | undefined {
  const [, , time, zone] =
    /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)?)?$/i.exec(text) ?? [];
  if (!/^\d{4}-\d\d-\d\d/.test(text) || (text.length > 10 && time === undefined)) return undefined;
  const instant = new Date(time !== undefined && zone === undefined ? `${text}Z` : text);
  return isCalendarDay(text) && isStorableInstant(instant) ? instant : undefined;
}

function parsePresets(
  entries: readonly (readonly [string, string])[],
  rules: ListRules,
): Selection['presets'] {
  const presets = distinct(entries.map(([name, values]) => parsePreset(name, values, rules)));
  requireAtMost(PRESETS_MAX, 'presets', presets);
  return presets;
}

function parsePreset(name: string, text: string, rules: ListRules): { name: string; values: string[] } {
  const presets = rules.presets ?? {};
  const known = named(name, Object.keys(presets));
  if (known === undefined) throw malformed(`This list has no preset "${name}".`);
  const values = splitList(text).map((value) => {
    const allowed = named(value, presets[known]!);
    if (allowed === undefined) throw malformed(`The preset ${known} has no value "${value}".`);
    return allowed;
  });
  return { name: known, values: distinct(values) };
}

function parseQuickFilters(text: string, rules: ListRules): string[] {
  const names = splitList(text).filter((name) => name !== '');
  requireAtMost(QUICK_FILTERS_MAX, 'quick filters', names);
  return distinct(
    names.map((name) => {
      const known = named(name, rules.quickFilters ?? []);
      if (known === undefined) throw malformed(`This list has no quick filter "${name}".`);
      return known;
    }),
  );
}

/**
 * Reads the `search` of a query: a text to look for inside of others. Throws a problem `invalid` where it is too long, or
 * repeats itself too often.
 */
export function parseSearch(text: string | null | undefined): string | undefined {
  if (!text) return undefined;
  if (isUnstorable(text)) throw invalid({ search: 'Format' });
  if (lengthOf(text) > SEARCH_LENGTH_MAX) throw invalid({ search: 'MaximumLength' });
  if (!isQuicklyFound(text)) throw repeatsItself('search');
  return text;
}

/**
 * Whether a text can be looked for in very many others: one that repeats itself takes a hundred times as long, in texts
 * that do the same.
 */
const isQuicklyFound = (text: string): boolean => repetitionsOf(text.toLowerCase()) <= SEARCH_REPETITIONS_MAX;

/** What is said of a text that repeats itself too often. */
const REPEATS_ITSELF = `A text to look for repeats its beginning at most ${SEARCH_REPETITIONS_MAX} times.`;

const repeatsItself = (path: string): Problem => invalid({ [path]: 'Format' }, REPEATS_ITSELF);

/** Splits at commas; `\,` is a comma inside a value and `\\` a backslash. */
export function splitList(text: string): string[] {
  const values: string[] = [];
  let current = '';
  for (let index = 0; index < text.length; index++) {
    const next = text[index + 1];
    if (text[index] === '\\' && (next === ',' || next === '\\')) {
      current += next;
      index++;
    } else if (text[index] === ',') {
      values.push(current);
      current = '';
    } else current += text[index];
  }
  return [...values, current];
}

function requireAtMost(max: number, kind: string, given: readonly unknown[]): void {
  if (given.length > max) throw malformed(`A list query takes at most ${max} ${kind}.`);
}

/** Each value once, at its first place. */
const distinct = <Value>(values: readonly Value[]): Value[] => [
  ...new Map(values.map((value) => [JSON.stringify(value), value])).values(),
];

/** The known name that the caller wrote, in any case. */
const named = (name: string, known: readonly string[]): string | undefined =>
  known.find((candidate) => candidate === name) ??
  known.find((candidate) => candidate.toLowerCase() === name.toLowerCase());

const oneOf = (names: readonly string[]): string =>
  names.length === 0 ? 'it has none' : `it takes ${names.join(', ')}`;
