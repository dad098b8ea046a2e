import { escapeLike } from '@plinth/kernel/like-pattern';
import { malformed } from '@plinth/kernel/problem';
import {
  parseTimestamp,
  type Filter,
  type FilterValue,
  type Selection,
  type SortTerm,
} from '@plinth/kernel/list-query';
import { withoutStatementNames } from '@plinth/runtime/postgres/statement-names';
import type { CursorKey } from './cursor';
import type { ListRequest } from './paging';
import { totalCountOf } from './total-count';

type Where = Record<string, unknown>;

const containing = (text: string) => ({ contains: escapeLike(text), mode: 'insensitive' });

/** `company.name` is the property `name` of the related row `company`. */
const nested = (field: string, condition: Where): Where =>
  field.split('.').reduceRight((inner, part) => ({ [part]: inner }), condition);

/** The Prisma condition of filters and search; field names are column properties of the model. */
export function toWhere(
  { filters, search }: Pick<Selection, 'filters' | 'search'>,
  searchable: readonly string[],
): Where {
  const conditions: Where[] = filters.map((filter) => nested(filter.field, toCondition(filter)));
  if (search !== undefined)
    conditions.push({ OR: searchable.map((field) => ({ [field]: containing(search) })) });
  return { AND: conditions };
}

function toCondition({ operator, values }: Filter): Where {
  const [first, second] = values;
  switch (operator) {
    case 'eq':
      return { equals: first };
    case 'in':
      return { in: values };
    case 'between':
      return { gte: first, lte: second };
    case 'contains':
    case 'startsWith':
    case 'endsWith':
      return { [operator]: escapeLike(String(first)), mode: 'insensitive' };
    default:
      return { [operator]: first };
  }
}

/** The Prisma order of sort terms, made total by the id. */
export const toOrderBy = (sort: readonly SortTerm[], id = 'id'): Record<string, 'asc' | 'desc'>[] => [
  ...sort.map(({ field, descending }) => ({ [field]: descending ? ('desc' as const) : ('asc' as const) })),
  { [id]: lastIsDescending(sort) ? 'desc' : 'asc' },
];

/**
 * The Prisma condition "after this row" of a keyset page; sort fields must not be null. The bound of the first field
 * repeats what the rest implies; with it Postgres begins to read an index at the row, and not at its end.
 */
export function toAfter(
  sort: readonly SortTerm[],
  after: CursorKey,
  dates: readonly string[] = [],
  id = 'id',
): Where {
  const terms = [...sort, { field: id, descending: lastIsDescending(sort) }];
  if (after.length !== terms.length)
    throw malformed('The cursor was made for a list with another sort order.');
  const values = terms.map(({ field }, index) => readValue(after[index], dates.includes(field)));
  return {
    [terms[0]!.field]: { [terms[0]!.descending ? 'lte' : 'gte']: values[0] },
    OR: terms.map(({ field, descending }, index) => ({
      AND: [
        ...terms.slice(0, index).map((term, earlier) => ({ [term.field]: { equals: values[earlier] } })),
        { [field]: { [descending ? 'lt' : 'gt']: values[index] } },
      ],
    })),
  };
}

interface PageSource<Row> {
  /** The condition of all pages together. */
  selection: Where;
  /** Sort fields that are points in time. */
  dates: readonly string[];
  find(page: {
    where: Where;
    orderBy: ReturnType<typeof toOrderBy>;
    take: number;
    skip: number;
  }): PromiseLike<Row[]>;
  /** Counts all rows, or the first of them. */
  count(counted: {
    where: Where;
    orderBy?: ReturnType<typeof toOrderBy>;
    take?: number;
  }): PromiseLike<number>;
}

/**
 * The rows of one page and one more, and the total count where it is wanted. The first rows are counted in the order of
 * the list, which has an index.
 * @throws NeedsLongRead
 */
export async function findPage<Row>(
  { sort, after, limit, offset, wantsTotalCount, countsAll }: ListRequest,
  { selection, dates, find, count }: PageSource<Row>,
): Promise<{ rows: Row[]; totalCount: number | null }> {
  const where = { AND: [selection, after ? toAfter(sort, after, dates) : {}] };
  const orderBy = toOrderBy(sort);
  return withoutStatementNames(async () => {
    const totalCount = await totalCountOf({ wantsTotalCount, countsAll }, (first) =>
      count({ where: selection, ...(first === undefined ? {} : { orderBy, take: first }) }),
    );
    return { rows: await find({ where, orderBy, take: limit, skip: offset }), totalCount };
  });
}

const lastIsDescending = (sort: readonly SortTerm[]): boolean => sort.at(-1)?.descending ?? false;

const readValue = (value: CursorKey[number] | undefined, isDate: boolean): FilterValue | null | undefined =>
  isDate && typeof value === 'string' ? parseTimestamp(value) : value;
