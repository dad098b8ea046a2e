import type { BatchContext, UndoneRows, WrittenRow } from '@plinth/exchange/definition';
import { publishDeleted, publishSaved, type RecordEvents } from '../events/published';

/** Publishes which records an import has written. */
export async function recordImported(
  events: RecordEvents,
  rows: readonly WrittenRow[],
  { tx, caller }: BatchContext,
): Promise<void> {
  const ids = rows.map(({ id }) => id);
  await publishSaved(tx, caller, events, ids, 'imported');
}

/** Publishes which records the undoing of an import has restored and removed. */
export async function recordUndone(
  events: RecordEvents,
  { removed, restored }: UndoneRows,
  { tx, caller }: BatchContext,
): Promise<void> {
  const ids = restored.map(({ row }) => String(row['id']));
  const deleted = removed.map((row) => ({ id: String(row['id']), externalId: String(row['external_id']) }));
  if (ids.length > 0) await publishSaved(tx, caller, events, ids, 'restored');
  if (deleted.length > 0) await publishDeleted(tx, caller, events, deleted);
}
