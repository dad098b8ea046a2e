import {
  FILTERS_MAX,
  OFFSET_MAX,
  operatorsByType,
  PAGE_SIZE_DEFAULT,
  PAGE_SIZE_MAX,
  SEARCH_LENGTH_MAX,
  SORT_FIELDS_MAX,
  type FieldRule,
  type ListRules,
  type Operator,
} from '@plinth/kernel/list-query';
import type { Json, JsonSchema } from './schemas';

/** A parameter of an operation; the description of its schema becomes its own. */
export function parameter(
  place: 'path' | 'query',
  name: string,
  schema: JsonSchema,
  isRequired: boolean,
): Json {
  const { description, ...rest } = schema;
  return {
    name,
    in: place,
    required: isRequired,
    ...(description === undefined ? {} : { description }),
    schema: rest,
  };
}

const optional = (name: string, description: string, schema: JsonSchema, more: Json = {}): Json => ({
  ...parameter('query', name, { ...schema, description }, false),
  ...more,
});

const asMembers = { style: 'deepObject', explode: true };

const objectOf = (members: readonly (readonly [string, JsonSchema])[]): JsonSchema => ({
  type: 'object',
  properties: Object.fromEntries(members),
  additionalProperties: false,
});

/** The query parameters of a list by its rules. */
export function listParameters(list: ListRules): Json[] {
  return [
    ...pageParameters(list),
    ...(list.sortable.length > 0 ? [sortParameter(list)] : []),
    ...shortFilterParameters(list),
    ...filterParameters(list),
    ...presetParameters(list),
    ...(list.searchable.length > 0
      ? [
          optional('search', `Text to look for in ${list.searchable.join(', ')}.`, {
            type: 'string',
            maxLength: SEARCH_LENGTH_MAX,
          }),
        ]
      : []),
  ];
}

/** How far back a page may be depends on its size, which a schema cannot say: its maximum is right for all sizes. */
const PAGE_DESCRIPTION = `Number of the page, from 1. Pages end at item ${OFFSET_MAX}.`;

function pageParameters({ cursor }: ListRules): Json[] {
  return [
    optional('page', PAGE_DESCRIPTION, {
      type: 'integer',
      minimum: 1,
      maximum: OFFSET_MAX / PAGE_SIZE_MAX,
      default: 1,
    }),
    optional(
      'pageSize',
      `Items of a page, at most ${PAGE_SIZE_MAX}; larger values are reduced to ${PAGE_SIZE_MAX}.`,
      {
        type: 'integer',
        minimum: 1,
        default: PAGE_SIZE_DEFAULT,
      },
    ),
    optional('skipTotalCount', 'Leaves `totalCount` out, which is faster.', {
      type: 'boolean',
      default: false,
    }),
    ...(cursor
      ? [
          optional(
            'cursor',
            'The `nextCursor` of the previous page; empty for the first page. Not together with `page`.',
            { type: 'string' },
          ),
        ]
      : []),
  ];
}

function sortParameter({ sortable, defaultSort }: ListRules): Json {
  const term = `-?(?:${sortable.join('|')})`;
  return optional(
    'sort',
    `Fields, at most ${SORT_FIELDS_MAX}, comma-separated, \`-\` for descending: ${sortable.join(', ')}. Empty is the default.`,
    {
      type: 'string',
      pattern: `^(?:${term}(?:,${term})*)?$`,
      default: defaultSort,
    },
  );
}

function shortFilterParameters({ filterable, shortFilters = [] }: ListRules): Json[] {
  return shortFilters.map((field) =>
    optional(field, `The same as \`filter[${field}.eq]\`.`, filterValue(filterable[field]!, 'eq')),
  );
}

function filterParameters({ filterable }: ListRules): Json[] {
  const filters = Object.entries(filterable).flatMap(([field, rule]) =>
    operatorsByType[rule.type].map(
      (operator) => [`${field}.${operator}`, filterValue(rule, operator)] as const,
    ),
  );
  if (filters.length === 0) return [];
  const description = `Filters, at most ${FILTERS_MAX}, all of which must match: \`filter[field.operator]=value\`.`;
  return [optional('filter', description, objectOf(filters), asMembers)];
}

/** From year 2 to 9998, whose times are of a year that can be stored in each zone; see `timestampPattern`. */
const YEAR = '(?:[1-8][0-9]{3}|9[0-8][0-9]{2}|99[0-8][0-9]|999[0-8]|0[1-9][0-9]{2}|00[1-9][0-9]|000[2-9])';
const LEAP_YEAR = '(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)';
const MONTH_AND_DAY =
  '(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8]))';
const TIME = 'T(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\\.[0-9]{1,9})?)?';
const OFFSET = '[+-](?:[01][0-9]|2[0-3]):[0-5][0-9]';

/** The days of the calendar, with a time or not. In the first and in the last year an offset could lead out of them. */
const timestampPattern = [
  `(?:${YEAR}-${MONTH_AND_DAY}|${LEAP_YEAR}-02-29)(?:${TIME}(?:Z|${OFFSET})?)?`,
  `(?:0001|9999)-${MONTH_AND_DAY}(?:${TIME}Z?)?`,
].join('|');

/**
 * One value of a filter as a pattern; strings have none. Letters that are accepted in any case are in the usual one, which
 * is what a client should send.
 */
const patternByType: Partial<Record<FieldRule['type'], string>> = {
  integer: '-?[0-9]{1,15}',
  number: '-?[0-9]{1,15}(?:\\.[0-9]{1,15})?',
  boolean: '[Tt]rue|[Ff]alse|TRUE|FALSE',
  timestamp: timestampPattern,
  uuid: '[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}',
};

/** Names and wire values, each once. */
const wordsOf = ({ values = {} }: FieldRule): string =>
  [...new Set(Object.entries(values).flat().map(String))].join('|');

function filterValue(rule: FieldRule, operator: Operator): JsonSchema {
  const one = rule.type === 'enum' ? wordsOf(rule) : patternByType[rule.type];
  if (one === undefined) return { type: 'string' };
  if (operator === 'between') return { type: 'string', pattern: `^(?:${one}),(?:${one})$` };
  return { type: 'string', pattern: operator === 'in' ? `^(?:${one})(?:,(?:${one}))*$` : `^(?:${one})$` };
}

function presetParameters({ presets = {}, quickFilters = [] }: ListRules): Json[] {
  const listOf = (values: readonly string[]) => `(?:${values.join('|')})(?:,(?:${values.join('|')}))*`;
  const members = Object.entries(presets).map(
    ([name, values]) =>
      [name, { type: 'string', pattern: `^${listOf(values)}$`, examples: [values.join(',')] }] as const,
  );
  return [
    ...(members.length > 0
      ? [optional('presets', 'Preset values, comma-separated.', objectOf(members), asMembers)]
      : []),
    ...(quickFilters.length > 0
      ? [
          optional('quickFilters', `Named filters, comma-separated: ${quickFilters.join(', ')}.`, {
            type: 'string',
            pattern: `^(?:${listOf(quickFilters)})?$`,
          }),
        ]
      : []),
  ];
}
