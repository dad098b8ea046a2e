import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { followAgain } from '../api/follow-again';
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
    const again = readingAgain(queries);
    const params = { entityType, entityId };
    const query = timelineQuery(params);
    const { queryKey } = query;
    const isShown = async ({ newestEntryId, totalCount }: TimelineState) => {
      // The first event may be there before the entries, which are on their way then.
      const data = await queries.ensureInfiniteQueryData(query).catch(() => undefined);
      const page = data?.pages[0];
      return page?.totalCount === totalCount && (page.items[0]?.id ?? null) === newestEntryId;
    };
    const leave = followAgain(RETRY_MILLISECONDS, async ({ signal, onOpen }) => {
      const { body: events } = await timeline.watchTimeline({ params, signal });
      onOpen();
      for await (const { data } of events) {
        if (await isShown(data as TimelineState)) continue;
        again.readAgain(queryKey);
        again.readAgain(['workflow', entityType, entityId]);
      }
      return 'ended';
    });
    return () => {
      leave();
      again.stop();
    };
  }, [queries, isTime, entityType, entityId]);
}
