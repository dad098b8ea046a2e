import type { KeptRowReason } from '@plinth/contracts/data-exchange/shapes';
import type { BatchContext, ExchangeDefinition, StoredRow } from '../definition';
import type { UndoStatements } from './undo-statements';
import { inSavepoint } from '../import/write-batch';
import { unpackIds } from '../import/write-record';

/** What a batch wrote, as it was stored. */
export interface RecordedWrite {
  transactions: string[];
  inserted: Buffer;
  updated: Buffer;
}

/** What the undo of one write did with its rows. It is stored as JSON, so its properties keep their names. */
export interface UndoOutcome {
  removed: number;
  restored: number;
  /** Rows that the job inserted and that were deleted since. */
  gone: number;
  kept: { rowNumber: number | null; key: string; reason: KeptRowReason }[];
}

/** Undoes what one batch wrote, in the running transaction. */
export async function undoWrite(
  definition: ExchangeDefinition,
  statements: UndoStatements,
  write: RecordedWrite,
  context: BatchContext,
): Promise<UndoOutcome> {
  const inserted = unpackIds(write.inserted);
  const updated = unpackIds(write.updated);
  const ids = [...inserted, ...updated];
  // Before the rows are locked: the check may take locks that other transactions take before those of rows.
  const refused = await refusedOf(definition, statements, ids, context);
  const current = await lockAndCompare(statements, ids, write.transactions, context);

  const rows = new Map(current.map(({ id, row }) => [id, row]));
  const reasons = new Map<string, KeptRowReason>();
  for (const id of updated) if (!rows.has(id)) reasons.set(id, 'DeletedSince');
  for (const { id, isUnchanged } of current) {
    if (!isUnchanged) reasons.set(id, 'ChangedSince');
    else if (refused.has(id)) reasons.set(id, 'Refused');
  }
  const revert = async (statement: string, candidates: readonly string[], otherwise: KeptRowReason) => {
    const possible = candidates.filter((id) => rows.has(id) && !reasons.has(id));
    const changed = await changeRows(statement, possible, context);
    for (const id of possible) if (!changed.has(id)) reasons.set(id, otherwise);
    return changed;
  };
  const removed = await revert(statements.remove, inserted, 'InUse');
  const restored = await revert(statements.restore, updated, 'Conflict');
  if (removed.size + restored.size > 0)
    await definition.afterUndo?.(
      {
        removed: Array.from(removed.keys(), (id) => rows.get(id)!),
        restored: Array.from(restored, ([id, row]) => ({ undone: rows.get(id)!, row })),
      },
      context,
    );
  return {
    removed: removed.size,
    restored: restored.size,
    gone: inserted.filter((id) => !rows.has(id)).length,
    kept: await describeKept(statements, reasons, context),
  };
}

async function refusedOf(
  { checkUndo }: ExchangeDefinition,
  statements: UndoStatements,
  ids: readonly string[],
  context: BatchContext,
): Promise<ReadonlySet<string>> {
  if (!checkUndo) return new Set();
  const { connection, caller } = context;
  const { rows } = await connection.query<{ row: StoredRow }>(statements.read, [caller.tenantId, ids]);
  const stored = rows.map(({ row }) => row);
  return checkUndo(stored, context);
}

/** Locks rows; returns them, each with whether it is unchanged since the write. */
async function lockAndCompare(
  statements: UndoStatements,
  ids: readonly string[],
  transactions: readonly string[],
  { connection, caller }: BatchContext,
) {
  await connection.query(statements.lock, [caller.tenantId, ids]);
  const { rows } = await connection.query<{ id: string; row: StoredRow; isUnchanged: boolean }>(
    statements.compare,
    [caller.tenantId, ids, transactions],
  );
  return rows;
}

/** Changes rows and returns them by id; those that the database refuses are found by halving, and left out. */
async function changeRows(
  statement: string,
  ids: readonly string[],
  context: BatchContext,
): Promise<Map<string, StoredRow>> {
  if (ids.length === 0) return new Map();
  const { connection, caller, jobId } = context;
  const done = await inSavepoint(connection, () =>
    connection.query<{ id: string; row: StoredRow }>(statement, [caller.tenantId, jobId, ids]),
  );
  if (!(done instanceof Error)) return new Map(done.rows.map(({ id, row }) => [id, row]));
  if (ids.length === 1) return new Map();
  const half = Math.ceil(ids.length / 2);
  return new Map([
    ...(await changeRows(statement, ids.slice(0, half), context)),
    ...(await changeRows(statement, ids.slice(half), context)),
  ]);
}

async function describeKept(
  statements: UndoStatements,
  reasons: ReadonlyMap<string, KeptRowReason>,
  { connection, caller, jobId }: BatchContext,
): Promise<UndoOutcome['kept']> {
  if (reasons.size === 0) return [];
  const { rows } = await connection.query<{ id: string; rowNumber: number | null; key: string }>(
    statements.describe,
    [caller.tenantId, jobId, [...reasons.keys()]],
  );
  return rows.map(({ id, rowNumber, key }) => ({ rowNumber, key, reason: reasons.get(id)! }));
}
