import type { ListRequest } from './paging';

/** Rows that are counted in passing, about as many as one page may have. */
export const COUNTED_IN_PASSING_MAX = 1_000;

/**
 * Thrown where a list has more rows than are counted in passing, or needs all of its rows for a reason that only its service
 * knows; it is read again in a place for long reads.
 */
export class NeedsLongRead extends Error {
  constructor() {
    super('All rows of a list are read in a place for long reads only.');
  }
}

/**
 * The total of a list, null where none is wanted. All rows of a list are counted only in a place for long reads, since
 * Postgres would read as many as a tenant may have: elsewhere no more than a few are.
 * @param count counts the rows of the list, up to a number of them; without one all
 * @throws NeedsLongRead, for the pipeline that asked for the list
 */
export async function totalCountOf(
  { wantsTotalCount, countsAll }: Pick<ListRequest, 'wantsTotalCount' | 'countsAll'>,
  count: (limit: number | undefined) => PromiseLike<number>,
): Promise<number | null> {
  if (!wantsTotalCount) return null;
  if (countsAll) return count(undefined);
  const counted = await count(COUNTED_IN_PASSING_MAX + 1);
  if (counted > COUNTED_IN_PASSING_MAX) throw new NeedsLongRead();
  return counted;
}
