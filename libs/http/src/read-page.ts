import type { Caller } from '@plinth/kernel/caller';
import type { FairPlaces } from '@plinth/runtime/process/fair-places';

/** Long pages of large rows that are read at the same time. */
export const PAGE_READS = 2;
/** As many rows of the largest size fit into the memory of a process on every connection to its database. */
const SHORT_PAGE_MAX = 25;

/**
 * Reads a page of rows that may be large, a long one in turns of tenants: all of it is in memory several times until it
 * is sent. An entry has up to 65,536 characters, and a request for approval the names of 300 people.
 * @throws the reason of the signal, and what `read` throws
 */
export const readPage = <Page>(
  pageReads: FairPlaces,
  caller: Caller,
  { limit }: { limit: number },
  read: () => Promise<Page>,
  signal: AbortSignal,
): Promise<Page> => (limit <= SHORT_PAGE_MAX ? read() : pageReads.run(caller, read, signal));
