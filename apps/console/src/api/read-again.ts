import type { QueryClient, QueryKey } from '@tanstack/react-query';

/** The shortest time between two readings of the same, for each page of a list that was loaded. */
const PAUSE_MILLISECONDS = 1_000;

/**
 * Has queries read again that events are about: the first time at once, and then once more after a pause, however many
 * events came meanwhile. A reading that is on its way goes on. `stop` ends it with what waits.
 */
export function readingAgain(queries: QueryClient) {
  /** By the key: whether another event came since it was read. */
  const pauses = new Map<string, { isAsked: boolean }>();
  const timers = new Set<ReturnType<typeof setTimeout>>();
  let isStopped = false;

  const pausedFor = (milliseconds: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(() => {
        timers.delete(timer);
        resolve();
      }, milliseconds);
      timers.add(timer);
    });

  const readAgain = async (queryKey: QueryKey): Promise<void> => {
    const name = JSON.stringify(queryKey);
    const former = pauses.get(name);
    if (former) {
      former.isAsked = true;
      return;
    }
    // What is being read may be as it was before the event.
    const pause = { isAsked: queries.isFetching({ queryKey }) > 0 };
    pauses.set(name, pause);
    const read = async () => {
      await queries.invalidateQueries({ queryKey }, { cancelRefetch: false });
      // Whoever asks for more of a list ends the reading of what it has: that is not read again yet.
      if (hasReadMore(queries, queryKey)) pause.isAsked = true;
    };
    await Promise.all([read(), pausedFor(PAUSE_MILLISECONDS * pagesOf(queries, queryKey))]);
    pauses.delete(name);
    if (pause.isAsked && !isStopped) await readAgain(queryKey);
  };

  return {
    readAgain: (queryKey: QueryKey): void => void readAgain(queryKey),
    stop: (): void => {
      isStopped = true;
      timers.forEach(clearTimeout);
    },
  };
}

/** Whether a further page of a list was read last, or something is being read still. */
const hasReadMore = (queries: QueryClient, queryKey: QueryKey): boolean =>
  queries
    .getQueryCache()
    .findAll({ queryKey, type: 'active' })
    .some(({ state }) => state.fetchStatus === 'fetching' || Boolean(state.fetchMeta?.fetchMore));

/** How many requests the longest list takes. */
const pagesOf = (queries: QueryClient, queryKey: QueryKey): number =>
  Math.max(...queries.getQueriesData({ queryKey, type: 'active' }).map(([, data]) => pageCount(data)), 1);

/** The pages of a list that were loaded; 1 where none was. */
export const pageCount = (data: unknown): number => {
  const pages = (data as { pages?: unknown } | undefined)?.pages;
  return Array.isArray(pages) ? Math.max(pages.length, 1) : 1;
};
