import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { followAgain } from '../api/follow-again';
import { readingAgain } from '../api/read-again';
import { notificationsQuery, timeline, unreadCountQuery } from '../api/timeline';
import { PARTS_MILLISECONDS, useAfterPaint } from '../components/after-paint';
import { useTexts } from '../texts/texts';

const RETRY_MILLISECONDS = 5_000;

/** How many notifications were not read, as it is now: the platform sends each new one at once. */
export function UnreadBadge() {
  const { t, number } = useTexts();
  const queries = useQueryClient();
  // What a page is for comes first.
  const isTime = useAfterPaint(PARTS_MILLISECONDS);
  // Asked when everything that comes later is sent, so that it is not asked twice; or without that, where it fails.
  const [isFollowed, setFollowed] = useState(false);
  const { data: count = 0 } = useQuery({ ...unreadCountQuery, enabled: isFollowed });

  useEffect(() => {
    if (!isTime) return undefined;
    const again = readingAgain(queries);
    let isFirst = true;
    const readAgain = async () => {
      const before = queries.getQueryData(unreadCountQuery.queryKey);
      const now = await queries.fetchQuery({ ...unreadCountQuery, staleTime: 0 });
      // Also where it was not known: a list that is there was read before.
      if (before !== now) await queries.invalidateQueries({ queryKey: notificationsQuery.queryKey });
    };
    const leave = followAgain(RETRY_MILLISECONDS, async ({ signal, onOpen }) => {
      try {
        const { body: events } = await timeline.streamNotifications({ signal });
        onOpen();
        // A page that was read just before has what there is, unless there are more now.
        if (isFirst) void readAgain().catch(() => undefined);
        else again.readAgain(['notifications']);
        isFirst = false;
        setFollowed(true);
        for await (const { event } of events) {
          if (event !== 'notification') continue;
          again.readAgain(['notifications']);
          again.readAgain(['timeline']);
          again.readAgain(['approvals']);
        }
        return 'ended';
      } catch (error) {
        isFirst = false;
        if (!signal.aborted) setFollowed(true);
        throw error;
      }
    });
    return () => {
      leave();
      again.stop();
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
