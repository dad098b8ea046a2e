import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { timeline, unreadCountQuery } from '../api/timeline';
import { useAfterPaint } from '../components/after-paint';
import { useTexts } from '../texts/texts';

const RETRY_MILLISECONDS = 5_000;

/** How many notifications were not read, as it is now: the platform sends each new one at once. */
export function UnreadBadge() {
  const { t, number } = useTexts();
  const queries = useQueryClient();
  // What a page is for comes first.
  const isTime = useAfterPaint();
  const { data: count = 0 } = useQuery({ ...unreadCountQuery, enabled: isTime });

  useEffect(() => {
    if (!isTime) return undefined;
    const ending = new AbortController();
    let timer: number | undefined;
    const follow = async () => {
      try {
        const { body: events } = await timeline.streamNotifications({ signal: ending.signal });
        void queries.invalidateQueries({ queryKey: ['notifications'] });
        for await (const { event } of events) {
          if (event !== 'notification') continue;
          void queries.invalidateQueries({ queryKey: ['notifications'] });
          void queries.invalidateQueries({ queryKey: ['timeline'] });
          void queries.invalidateQueries({ queryKey: ['approvals'] });
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
  }, [queries, isTime]);

  if (count === 0) return null;
  return (
    <span className="badge accent number">
      {number(count)}
      <span className="visually-hidden"> {t('Console.notifications.unread')}</span>
    </span>
  );
}
