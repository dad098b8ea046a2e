import type { KeptRowReason } from '@plinth/contracts/data-exchange/shapes';
import type { BatchContext, ExchangeDefinition, StoredRow } from './definition';
import type { UndoStatements } from './undo-statements';
import { inSavepoint } from './write-batch';
import { unpackIds } from './write-note';

/** What a batch wrote, as it was noted. */
export interface Write {
  transactions: string[];
  inserted: Buffer;
  updated: Buffer;
}

/** What became of the rows of one write. */
export interface Outcome {
  removed: number;
  restored: number;
  /** Rows that the job inserted and somebody deleted. */
  gone: number;
  kept: { rowNumber: number | null; key: string; reason: KeptRowReason }[];
}

/** Takes back what one batch wrote, in the running transaction. */
export async function undoWrite(
  definition: ExchangeDefinition,
  statements: UndoStatements,
  write: Write,
  context: BatchContext,
): Promise<Outcome> {
  const inserted = unpackIds(write.inserted);
  const updated = unpackIds(write.updated);
  const ids = [...inserted, ...updated];
  // Before the rows are locked, because whoever checks may take turns that others take first, too.
  const refused = await refusedOf(definition, statements, ids, context);
  const judged = await judge(statements, ids, write.transactions, context);

  const rows = new Map(judged.map(({ id, row }) => [id, row]));
  const reasons = new Map<string, KeptRowReason>();
  for (const id of updated) if (!rows.has(id)) reasons.set(id, 'DeletedSince');
  for (const { id, isUnchanged } of judged) {
    if (!isUnchanged) reasons.set(id, 'ChangedSince');
    else if (refused.has(id)) reasons.set(id, 'Refused');
  }
  const takeBack = async (statement: string, some: readonly string[], otherwise: KeptRowReason) => {
    const possible = some.filter((id) => rows.has(id) && !reasons.has(id));
    const changed = await changeRows(statement, possible, context);
    for (const id of possible) if (!changed.has(id)) reasons.set(id, otherwise);
    return changed;
  };
  const removed = await takeBack(statements.remove, inserted, 'InUse');
  const restored = await takeBack(statements.restore, updated, 'Conflict');
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

/** Locks rows and tells what they are, and whether nobody wrote them since. */
async function judge(
  statements: UndoStatements,
  ids: readonly string[],
  transactions: readonly string[],
  { connection, caller }: BatchContext,
) {
  await connection.query(statements.lock, [caller.tenantId, ids]);
  const { rows } = await connection.query<{ id: string; row: StoredRow; isUnchanged: boolean }>(
    statements.judge,
    [caller.tenantId, ids, transactions],
  );
  return rows;
}

/** Changes rows and answers them by id; those that the database refuses are found by halving, and left out. */
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
): Promise<Outcome['kept']> {
  if (reasons.size === 0) return [];
  const { rows } = await connection.query<{ id: string; rowNumber: number | null; key: string }>(
    statements.describe,
    [caller.tenantId, jobId, [...reasons.keys()]],
  );
  return rows.map(({ id, rowNumber, key }) => ({ rowNumber, key, reason: reasons.get(id)! }));
}
