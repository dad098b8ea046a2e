import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { readingAgain } from '../api/read-again';
import { timeline, timelineQuery } from '../api/timeline';
import type { Entity } from '../api/workflow';
import { PARTS_MILLISECONDS, useAfterPaint } from '../components/after-paint';

const RETRY_MILLISECONDS = 2_000;

interface TimelineState {
  newestEntryId: string | null;
  totalCount: number;
}

/** Reads the stream of an entity again as soon as somebody wrote or removed something. */
export function useLiveTimeline({ entityType, entityId }: Entity): void {
  const queries = useQueryClient();
  // What is there already comes first.
  const isTime = useAfterPaint(PARTS_MILLISECONDS);
  useEffect(() => {
    if (!isTime) return undefined;
    const ending = new AbortController();
    const again = readingAgain(queries);
    let timer: number | undefined;
    const params = { entityType, entityId };
    const query = timelineQuery(params);
    const { queryKey } = query;
    const isShown = async ({ newestEntryId, totalCount }: TimelineState) => {
      // The first event may be there before the entries, which are on their way then.
      const data = await queries.ensureInfiniteQueryData(query).catch(() => undefined);
      const page = data?.pages[0];
      return page?.totalCount === totalCount && (page.items[0]?.id ?? null) === newestEntryId;
    };
    const follow = async () => {
      try {
        const { body: events } = await timeline.watchTimeline({ params, signal: ending.signal });
        for await (const { data } of events) {
          if (await isShown(data as TimelineState)) continue;
          again.readAgain(queryKey);
          again.readAgain(['workflow', entityType, entityId]);
        }
      } catch {
        // The stream is opened again below, whatever ended it.
      }
      if (!ending.signal.aborted) timer = window.setTimeout(() => void follow(), RETRY_MILLISECONDS);
    };
    void follow();
    return () => {
      ending.abort(new DOMException('The page was left.', 'AbortError'));
      clearTimeout(timer);
      again.stop();
    };
  }, [queries, isTime, entityType, entityId]);
}
