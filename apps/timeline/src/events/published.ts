import { entryAdded, entryRemoved, notificationsDue } from '@plinth/contracts/timeline/events';
import { appendToOutbox, writeWithEvents } from '@plinth/runtime/messaging/outbox';
import type { RawStatements } from '@plinth/runtime/postgres/postgres';
import type { Sql } from '@plinth/runtime/postgres/raw-statements';
import type { Entry } from '../domain/entry';
import { entityKey } from './wake-signal';

type PublishedEntry = Pick<Entry, 'id' | 'entityType' | 'entityId' | 'entryType'>;
type NotifyingEntry = Pick<Entry, 'id' | 'entityType' | 'entityId'>;

/**
 * Writes the entry of a person, and publishes it.
 * @param changes what inserts it
 * @param notifies whether people are to be notified of it
 */
export const writeEntryAdded = (
  tx: RawStatements,
  tenantId: string,
  entry: PublishedEntry,
  changes: readonly Sql[],
  notifies: Sql,
): Promise<void> =>
  writeWithEvents(
    tx,
    changes,
    { type: entryAdded, ...describe(tenantId, entry) },
    { ...toNotificationsDue(tenantId, entry), where: notifies },
  );

/** Has people notified of these entries. */
export const publishNotificationsDue = (
  tx: RawStatements,
  tenantId: string,
  entries: readonly NotifyingEntry[],
): Promise<void> => appendToOutbox(tx, ...entries.map((entry) => toNotificationsDue(tenantId, entry)));

export const publishEntryRemoved = (
  tx: RawStatements,
  tenantId: string,
  entry: PublishedEntry,
): Promise<void> => appendToOutbox(tx, { type: entryRemoved, ...describe(tenantId, entry) });

const toNotificationsDue = (tenantId: string, entry: NotifyingEntry) => ({
  type: notificationsDue,
  tenantId,
  subject: entityKey(entry),
  payload: { entryId: entry.id },
});

const describe = (tenantId: string, { id, entityType, entityId, entryType }: PublishedEntry) => ({
  tenantId,
  subject: entityKey({ entityType, entityId }),
  payload: { entryId: id, entityType, entityId, entryType },
});
