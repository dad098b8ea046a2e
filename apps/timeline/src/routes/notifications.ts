import type { IncomingMessage } from 'node:http';
import { timelineEndpoints } from '@plinth/contracts/timeline/endpoints';
import type { Api } from '@plinth/http/api';
import { events, noContent, type ServerSentEvent } from '@plinth/http/response';
import { readPage } from '@plinth/http/read-page';
import type { Caller } from '@plinth/kernel/caller';
import { isUuid } from '@plinth/kernel/uuid';
import { notificationStream } from '../app/notification-stream';
import type { Deps } from '../compose';
import { mentionedInExcerpt } from '../domain/excerpt';
import { notificationNotFound } from '../domain/problems';
import { chooseCulture } from '../domain/system-text';
import type { StoredNotification } from '../store/notification-store';
import { toNotificationResponse } from './notification-response';

const { getNotifications, getUnreadCount, streamNotifications, readNotification, readAllNotifications } =
  timelineEndpoints;

type Needs = Pick<
  Deps,
  'notifications' | 'people' | 'cultures' | 'notificationSignal' | 'streamReads' | 'pageReads' | 'health'
>;

export function mountNotifications(api: Api, deps: Needs): void {
  const { notifications, people, cultures, notificationSignal: signal, health } = deps;
  const { streamReads, pageReads } = deps;

  const toResponses = async (
    rows: readonly StoredNotification[],
    caller: Caller,
    request: IncomingMessage,
  ) => {
    if (rows.length === 0) return [];
    const culture = chooseCulture(await cultures.preferences(caller, request));
    const mentioned = rows.flatMap(({ entry }) => mentionedInExcerpt(entry.body));
    const names = await people.namesOf(caller.tenantId, [...new Set(mentioned)]);
    return rows.map((row) => toNotificationResponse(row, culture, names));
  };

  api.on(getNotifications, async ({ list, caller, request, signal: closed }) => {
    const read = () => notifications.list(caller, list);
    const { rows, totalCount, unreadCount } = await readPage(pageReads, caller, list, read, closed);
    const responses = await toResponses(rows, caller, request);
    const page = list.toPage(
      responses,
      totalCount,
      (notification) => notification,
      ({ createdAt, id }) => [(createdAt as Date).toISOString(), id],
    );
    return { ...page, unreadCount };
  });

  api.on(getUnreadCount, async ({ caller }) => ({ count: await notifications.unreadCount(caller) }));

  api.on(streamNotifications, async ({ caller, request, signal: closed }) => {
    const lastId = String(request.headers['last-event-id'] ?? '');
    const position = await streamReads.run(caller, () =>
      notifications.positionOf(caller, isUuid(lastId) ? lastId : undefined),
    );
    const ending = AbortSignal.any([closed, health.draining]);
    const stream = notificationStream(caller, position, ending, { notifications, signal, streamReads });
    return events(
      (async function* (): AsyncIterable<ServerSentEvent> {
        for await (const rows of stream) {
          for (const notification of await toResponses(rows, caller, request)) {
            yield { id: notification.id, event: 'notification', data: notification };
          }
        }
      })(),
    );
  });

  api.on(readNotification, async ({ params: { id }, caller }) => {
    if (!(await notifications.markRead(caller, id))) throw notificationNotFound();
    return noContent();
  });

  api.on(readAllNotifications, async ({ caller }) => {
    await notifications.markAllRead(caller);
    return noContent();
  });
}
