import { entryAdded, entryRemoved } from '@plinth/contracts/timeline/events';
import { appendToOutbox } from '@plinth/runtime/messaging/outbox';
import type { RawStatements } from '@plinth/runtime/postgres/postgres';
import type { Entry } from '../domain/entry';

type PublishedEntry = Pick<Entry, 'id' | 'entityType' | 'entityId' | 'entryType'>;

export const publishEntriesAdded = (
  tx: RawStatements,
  tenantId: string,
  entries: readonly PublishedEntry[],
): Promise<void> =>
  appendToOutbox(tx, ...entries.map((entry) => ({ type: entryAdded, ...describe(tenantId, entry) })));

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
