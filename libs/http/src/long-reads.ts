import type { Endpoint } from '@plinth/contracts/endpoint';
import { shareUsedUp } from '@plinth/contracts/platform/problems';
import { FairPlaces } from '@plinth/runtime/process/fair-places';
import type { ListRequest } from './paging';

/** How many lists of a process that need all rows of a tenant are read at the same time; two of one tenant at most. */
export const LONG_READS = 3;
const WAITING_MAX = 200;
const PATIENCE_MILLISECONDS = 10_000;
/** Rows that are read and passed over for a page. */
const PASSED_OVER_MAX = 10_000;

/**
 * The places in which lists are read that need all rows of a tenant, or other such reading is done.
 * @param what waits for a place, in plural, for the detail of the problem
 */
export const longReadPlaces = (what = 'lists that wait for all of their rows to be read'): FairPlaces =>
  new FairPlaces({
    places: LONG_READS,
    waitingMax: WAITING_MAX,
    patienceMilliseconds: PATIENCE_MILLISECONDS,
    refused: (scope) => shareUsedUp(scope, what),
  });

/**
 * Whether Postgres may have to read all rows of the tenant for a request, since no index looks into texts, knows which
 * rows any filter leaves, has another order than that of the list, or knows which row is the hundred thousandth; and for
 * some lists (`passesOver`) none knows which rows the caller sees. Some of them at the same time would keep all processors
 * of the database busy, beside which everybody else waits, however many connections are left.
 */
export function isLongRead(
  { list: rules }: Pick<Endpoint, 'list'>,
  list: Pick<ListRequest, 'search' | 'filters' | 'sort' | 'offset'> | undefined,
): boolean {
  if (!list) return false;
  // An index is read from either end, so that all fields turn around together or none does.
  const orderOf = (turns: boolean) =>
    list.sort.map(({ field, descending }) => (descending === turns ? field : `-${field}`)).join(',');
  return (
    rules?.passesOver === true ||
    list.search !== undefined ||
    list.filters.length > 0 ||
    list.offset > PASSED_OVER_MAX ||
    ![false, true].some((turns) => orderOf(turns) === rules?.defaultSort)
  );
}
