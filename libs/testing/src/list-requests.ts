import type { ListRequest } from '@plinth/http/paging';

/** A list request for the first rows in a sort order, without the total, which counts all. */
export const firstRows = (
  field: string,
  descending = true,
  more: Partial<ListRequest> = {},
): ListRequest => ({
  page: { mode: 'offset', page: 1, pageSize: 1, skipTotalCount: true },
  sort: [{ field, descending }],
  filters: [],
  presets: [],
  quickFilters: [],
  search: undefined,
  limit: 2,
  offset: 0,
  after: undefined,
  wantsTotalCount: false,
  countsAll: false,
  toPage: () => {
    throw new Error('Nobody asks for a page here.');
  },
  ...more,
});
