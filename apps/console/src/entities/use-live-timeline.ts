import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { timeline, timelineQuery } from '../api/timeline';
import type { Entity } from '../api/workflow';

const RETRY_MILLISECONDS = 2_000;

interface TimelineState {
  newestEntryId: string | null;
  totalCount: number;
}

/** Reads the stream of an entity again as soon as somebody wrote or removed something. */
export function useLiveTimeline({ entityType, entityId }: Entity): void {
  const queries = useQueryClient();
  useEffect(() => {
    const ending = new AbortController();
    let timer: number | undefined;
    const params = { entityType, entityId };
    const { queryKey } = timelineQuery(params);
    const isShown = ({ newestEntryId, totalCount }: TimelineState) => {
      const page = queries.getQueryData(queryKey)?.pages[0];
      return page?.totalCount === totalCount && (page.items[0]?.id ?? null) === newestEntryId;
    };
    const follow = async () => {
      try {
        const { body: events } = await timeline.watchTimeline({ params, signal: ending.signal });
        for await (const { data } of events) {
          if (isShown(data as TimelineState)) continue;
          void queries.invalidateQueries({ queryKey });
          void queries.invalidateQueries({ queryKey: ['workflow', entityType, entityId] });
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
    };
  }, [queries, entityType, entityId]);
}
