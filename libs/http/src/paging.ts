import type { ListQuery } from '@plinth/kernel/list-query';
import type { PagedResult } from '@plinth/kernel/paged-result';
import { signCursor, verifyCursor, type CursorKey } from './cursor';
import { jsonSizeOf } from './json-size';

/** A parsed list query together with what a store needs to run it and a handler to make the page. */
export interface ListRequest extends ListQuery {
  /** Rows to fetch: one more than the page has, to know whether there are more. */
  limit: number;
  /** Rows to skip; 0 in cursor mode. */
  offset: number;
  /** In cursor mode: the row after which the page begins; undefined for the first page. */
  after: CursorKey | undefined;
  /** Whether the response has a total, so that rows must be counted. */
  wantsTotalCount: boolean;
  /** Whether all rows may be counted for it: the request has a place for long reads. */
  countsAll: boolean;
  /**
   * Makes the page from up to `limit` rows. `keyOf` returns the values of the sort fields, in their order, and the
   * id; it is required for lists that allow cursors.
   */
  toPage<Row, Item>(
    rows: readonly Row[],
    totalCount: number | null,
    toItem: (row: Row) => Item,
    keyOf?: (row: Row) => CursorKey,
  ): PagedResult<Item>;
}

/** Completes a list query for one endpoint; `context` is what its cursors are bound to. */
export function toListRequest(query: ListQuery, context: string, cursorKeys: readonly string[]): ListRequest {
  const { page } = query;
  const sort = query.sort.map(({ field, descending }) => (descending ? `-${field}` : field)).join(',');
  const boundTo = `${context}\n${sort}`;
  const isCursorMode = page.mode === 'cursor';
  return {
    ...query,
    limit: page.pageSize + 1,
    offset: isCursorMode ? 0 : (page.page - 1) * page.pageSize,
    after: isCursorMode && page.cursor !== '' ? verifyCursor(page.cursor, boundTo, cursorKeys) : undefined,
    wantsTotalCount: !isCursorMode && !page.skipTotalCount,
    countsAll: false,
    toPage(rows, totalCount, toItem, keyOf) {
      const whole = rows.slice(0, page.pageSize).map(toItem);
      // Where another page begins depends on the size of this one only in offset mode.
      const items = isCursorMode ? firstItems(whole) : whole;
      const hasMore = rows.length > items.length;
      const result = { items, totalCount: isCursorMode ? null : totalCount, hasMore };
      if (!isCursorMode) return result;
      const last = rows[items.length - 1];
      const nextCursor = hasMore && last && keyOf ? signCursor(keyOf(last), boundTo, cursorKeys) : null;
      return { ...result, nextCursor };
    },
  };
}

/** Characters of texts may take six bytes each; the response has room for as many. */
const PAGE_BYTES_MAX = 4 * 1024 * 1024;

/** The items up to the one that makes the page too large, and always one. */
function firstItems<Item>(items: Item[]): Item[] {
  let bytes = 0;
  const end = items.findIndex((item, at) => (bytes += jsonSizeOf(item)) > PAGE_BYTES_MAX && at > 0);
  return end === -1 ? items : items.slice(0, end);
}
