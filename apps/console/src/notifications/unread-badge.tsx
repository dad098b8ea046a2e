import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
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
  // Asked when everything that comes later is sent, so that it is not asked twice; or without that, where it fails.
  const [isFollowed, setFollowed] = useState(false);
  const { data: count = 0 } = useQuery({ ...unreadCountQuery, enabled: isFollowed });

  useEffect(() => {
    if (!isTime) return undefined;
    const ending = new AbortController();
    let timer: number | undefined;
    const follow = async () => {
      try {
        const { body: events } = await timeline.streamNotifications({ signal: ending.signal });
        void queries.invalidateQueries({ queryKey: ['notifications'] });
        setFollowed(true);
        for await (const { event } of events) {
          if (event !== 'notification') continue;
          void queries.invalidateQueries({ queryKey: ['notifications'] });
          void queries.invalidateQueries({ queryKey: ['timeline'] });
          void queries.invalidateQueries({ queryKey: ['approvals'] });
        }
      } catch {
        // The stream is opened again below, whatever ended it.
        if (!ending.signal.aborted) setFollowed(true);
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
