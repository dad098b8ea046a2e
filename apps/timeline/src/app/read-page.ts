import type { Caller } from '@plinth/kernel/caller';
import type { FairPlaces } from '@plinth/runtime/process/fair-places';

/** As many entries of the largest size fit into the memory of a process on every connection to its database. */
const SHORT_PAGE_MAX = 25;

/**
 * Reads a page, a long one in turns of tenants: all of it is in memory several times until it is sent, and each of its
 * entries may have 65,536 characters.
 * @throws the reason of the signal, and what `read` throws
 */
export const readPage = <Page>(
  pageReads: FairPlaces,
  caller: Caller,
  { limit }: { limit: number },
  read: () => Promise<Page>,
  signal: AbortSignal,
): Promise<Page> => (limit <= SHORT_PAGE_MAX ? read() : pageReads.run(caller, read, signal));
