import type { Notification } from '@plinth/contracts/timeline/shapes';
import type { z } from 'zod';
import { excerptOf } from '../domain/excerpt';
import { severityOf, titleOf } from '../domain/notification';
import { bodyIn, type SystemCulture } from '../domain/system-text';
import type { StoredNotification } from '../store/notification-store';

/** A notification as its reader sees it: in their culture, and with the present names of people. */
export const toNotificationResponse = (
  { entry, id, kind, createdAt, readAt }: StoredNotification,
  culture: SystemCulture,
  nameByUserId: ReadonlyMap<string, string>,
): z.input<typeof Notification> => {
  const excerpt = excerptOf(bodyIn(culture, entry), nameByUserId);
  return {
    id,
    kind,
    entityType: entry.entityType,
    entityId: entry.entityId,
    entryId: entry.id,
    actorId: entry.authorId,
    actorDisplayName: entry.authorDisplayName,
    title: titleOf(kind, entry, culture),
    body: excerpt,
    severity: severityOf(entry),
    excerpt,
    createdAt,
    isRead: readAt !== null,
    readAt,
  };
};
