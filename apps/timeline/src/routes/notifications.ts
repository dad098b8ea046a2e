import type { IncomingMessage } from 'node:http';
import { timelineEndpoints } from '@plinth/contracts/timeline/endpoints';
import { timelineProblems } from '@plinth/contracts/timeline/problems';
import type { Notification, NotificationKind } from '@plinth/contracts/timeline/shapes';
import type { Api } from '@plinth/conventions/api';
import { events, noContent, type ServerSentEvent } from '@plinth/conventions/reply';
import type { Caller } from '@plinth/kernel/caller';
import { isUuid } from '@plinth/kernel/uuid';
import type { z } from 'zod';
import type { Deps } from '../compose';
import { excerptOf, peopleInExcerpt } from '../domain/excerpt';
import { bodyIn, chooseCulture } from '../domain/system-text';
import { followNotifications } from '../events/notification-stream';
import type { Notified } from '../store/notification-store';

const { getNotifications, getUnreadCount, streamNotifications, readNotification, readAllNotifications } =
  timelineEndpoints;

type Needs = Pick<Deps, 'notifications' | 'people' | 'cultures' | 'told' | 'health'>;

export function mountNotifications(api: Api, { notifications, people, cultures, told, health }: Needs): void {
  /** Says notifications as this person reads them: in their language, and with people by their present names. */
  const toWire = async (rows: readonly Notified[], caller: Caller, request: IncomingMessage) => {
    const isSystemHeard = rows.some(({ entry }) => entry.message);
    const culture = chooseCulture(isSystemHeard ? await cultures.wishes(caller, request) : []);
    const mentioned = rows.flatMap(({ entry }) => peopleInExcerpt(entry.body));
    const names = await people.namesOf(caller.tenantId, [...new Set(mentioned)]);
    return rows.map(({ entry, id, kind, createdAt, readAt }): z.input<typeof Notification> => ({
      id,
      kind: kind as NotificationKind,
      entityType: entry.entityType,
      entityId: entry.entityId,
      entryId: entry.id,
      actorId: entry.authorId,
      actorDisplayName: entry.authorDisplayName,
      excerpt: excerptOf(bodyIn(culture, entry), names),
      createdAt,
      readAt,
    }));
  };

  api.on(getNotifications, async ({ list, caller, request }) => {
    const { rows, totalCount } = await notifications.list(caller, list);
    const said = await toWire(rows, caller, request);
    return list.toPage(
      said,
      totalCount,
      (notification) => notification,
      ({ createdAt, id }) => [(createdAt as Date).toISOString(), id],
    );
  });

  api.on(getUnreadCount, async ({ caller }) => ({ count: await notifications.unreadCount(caller) }));

  api.on(streamNotifications, async ({ caller, request, signal }) => {
    const lastId = String(request.headers['last-event-id'] ?? '');
    const position = await notifications.positionOf(caller, isUuid(lastId) ? lastId : undefined);
    const ending = AbortSignal.any([signal, health.draining]);
    const stream = followNotifications(caller, position, ending, { notifications, told });
    return events(
      (async function* (): AsyncIterable<ServerSentEvent> {
        for await (const rows of stream) {
          for (const said of await toWire(rows, caller, request)) {
            yield { id: said.id, event: 'notification', data: said };
          }
        }
      })(),
    );
  });

  api.on(readNotification, async ({ params: { id }, caller }) => {
    if (!(await notifications.markRead(caller, id))) {
      throw timelineProblems['notification-not-found']('You have no notification of this id.');
    }
    return noContent();
  });

  api.on(readAllNotifications, async ({ caller }) => {
    await notifications.markAllRead(caller);
    return noContent();
  });
}
