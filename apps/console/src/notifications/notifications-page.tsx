import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Bell } from 'lucide-react';
import { notificationsQuery, timeline, unreadCountQuery, type Notification } from '../api/timeline';
import { Button } from '../components/button';
import { Page } from '../components/page';
import { PagedList } from '../components/paged-list';
import { RelativeTime } from '../components/relative-time';
import { EmptyState, Failure } from '../components/state';
import { useTexts } from '../texts/texts';

/** What happened to what the person follows, and who mentioned them. */
export function NotificationsPage() {
  const { t } = useTexts();
  const queries = useQueryClient();
  const query = useInfiniteQuery(notificationsQuery);
  const { data: unread } = useQuery(unreadCountQuery);
  const readAll = useMutation({
    mutationFn: () => timeline.readAllNotifications(),
    onSettled: () => queries.invalidateQueries({ queryKey: ['notifications'] }),
  });
  return (
    <Page
      title={t('Platform.areas.notifications')}
      // Its place is kept until it is known.
      lead={unread === undefined ? '\u00a0' : t('Timeline.messages.unread', { count: unread })}
      actions={
        unread !== undefined &&
        unread > 0 && (
          <Button isPending={readAll.isPending} onPress={() => readAll.mutate()}>
            {t('Platform.actions.markAllAsRead')}
          </Button>
        )
      }
    >
      {readAll.error && <Failure error={readAll.error} />}
      <PagedList
        query={query}
        skeleton={{ lines: 5, height: '3.4rem' }}
        empty={
          <EmptyState icon={Bell} title={t('Console.notifications.none')}>
            {t('Console.notifications.noneHelp')}
          </EmptyState>
        }
      >
        {(items) => (
          <ul className="panel feed">
            {items.map((notification) => (
              <Item key={notification.id} notification={notification} />
            ))}
          </ul>
        )}
      </PagedList>
    </Page>
  );
}

function Item({ notification }: { notification: Notification }) {
  const { t } = useTexts();
  const queries = useQueryClient();
  const { id, entityType, entityId, title, excerpt, createdAt, isRead } = notification;
  const read = useMutation({
    mutationFn: () => timeline.readNotification({ params: { id } }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['notifications'] }),
  });
  return (
    <li className={isRead ? undefined : 'unread'}>
      <div className="row spread">
        <Link
          to="/entities/$entityType/$entityId"
          params={{ entityType, entityId }}
          className="cover"
          onClick={() => {
            if (!isRead) read.mutate();
          }}
        >
          {title}
        </Link>
        <RelativeTime className="soft small" instant={createdAt} />
      </div>
      <p className="soft">{excerpt}</p>
      <div className="row spread small">
        <span className="soft">
          {entityType} {entityId}
        </span>
        {!isRead && (
          <Button look="quiet" isPending={read.isPending} onPress={() => read.mutate()}>
            {t('Platform.actions.markAsRead')}
          </Button>
        )}
      </div>
      {read.error && <Failure error={read.error} />}
    </li>
  );
}
