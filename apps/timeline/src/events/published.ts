import { entryAdded, entryRemoved, notificationsDue } from '@plinth/contracts/timeline/events';
import { appendToOutbox, appendToOutboxWhere } from '@plinth/runtime/messaging/outbox';
import type { RawStatements } from '@plinth/runtime/postgres/postgres';
import type { Sql } from '@plinth/runtime/postgres/raw-statements';
import type { Entry } from '../domain/entry';

type PublishedEntry = Pick<Entry, 'id' | 'entityType' | 'entityId' | 'entryType'>;

export const publishEntryAdded = (
  tx: RawStatements,
  tenantId: string,
  entry: PublishedEntry,
): Promise<void> => appendToOutbox(tx, { type: entryAdded, ...describe(tenantId, entry) });

type NotifyingEntry = Pick<Entry, 'id' | 'entityType' | 'entityId'>;

/** Has people notified of these entries. */
export const publishNotificationsDue = (
  tx: RawStatements,
  tenantId: string,
  entries: readonly NotifyingEntry[],
): Promise<void> => appendToOutbox(tx, ...entries.map((entry) => toNotificationsDue(tenantId, entry)));

/** Has people notified of an entry where a condition holds. */
export const publishNotificationsDueWhere = (
  tx: RawStatements,
  tenantId: string,
  condition: Sql,
  entry: NotifyingEntry,
): Promise<void> => appendToOutboxWhere(tx, condition, toNotificationsDue(tenantId, entry));

const toNotificationsDue = (tenantId: string, { id, entityType, entityId }: NotifyingEntry) => ({
  type: notificationsDue,
  tenantId,
  subject: `${entityType}/${entityId}`,
  payload: { entryId: id },
});

export const publishEntryRemoved = (
  tx: RawStatements,
  tenantId: string,
  entry: PublishedEntry,
): Promise<void> => appendToOutbox(tx, { type: entryRemoved, ...describe(tenantId, entry) });

const describe = (tenantId: string, { id, entityType, entityId, entryType }: PublishedEntry) => ({
  tenantId,
  subject: `${entityType}/${entityId}`,
  payload: { entryId: id, entityType, entityId, entryType },
});
