import type { KeptRowReason } from '@plinth/contracts/data-exchange/shapes';
import type { PoolClient } from 'pg';
import type { BatchContext, ExchangeDefinition, StoredRow, UndoableRow } from '../definition';
import type { UndoStatements } from './undo-statements';
import { inSavepoint } from '../import/write-batch';
import { byPlace, inIndexOrder } from '../look-up';
import { unpackIds } from '../import/write-record';

/** What a batch wrote, as it was stored. */
export interface RecordedWrite {
  transactions: string[];
  inserted: Buffer;
  updated: Buffer;
  /** What its undo did already. */
  undone: UndoOutcome | null;
}

/** What the undo of one write did with its rows. It is stored as JSON, so its properties keep their names. */
export interface UndoOutcome {
  removed: number;
  restored: number;
  /** Rows that the job inserted and that were deleted since. */
  gone: number;
  kept: { rowNumber: number | null; key: string; reason: KeptRowReason }[];
  /** The ids of those that were refused; a version before stored none. */
  refusedIds?: string[];
}

/** Of the rows that are undone together, as they are stored and as they were. */
const BYTES_TOGETHER_MAX = 4 * 1024 * 1024;

/**
 * Undoes what one batch wrote, in the running transaction. A batch is bounded by what was in its file; the rows may have
 * become much larger since, or have been, so that those of many bytes are undone in parts.
 */
export async function undoWrite(
  definition: ExchangeDefinition,
  statements: UndoStatements,
  write: RecordedWrite,
  context: BatchContext,
): Promise<UndoOutcome> {
  const inserted = new Set(unpackIds(write.inserted));
  const { ids, outcome } = write.undone
    ? openRest(write.undone)
    : { ids: [...inserted, ...unpackIds(write.updated)], outcome: noOutcome() };
  for (const part of await partsOf(statements, ids, context)) {
    const rows = {
      inserted: part.filter((id) => inserted.has(id)),
      updated: part.filter((id) => !inserted.has(id)),
      transactions: write.transactions,
    };
    const { removed, restored, gone, kept, refusedIds } = await undoRows(
      definition,
      statements,
      rows,
      context,
    );
    outcome.removed += removed;
    outcome.restored += restored;
    outcome.gone += gone;
    outcome.kept.push(...kept);
    outcome.refusedIds.push(...refusedIds);
  }
  return outcome;
}

const noOutcome = (): Required<UndoOutcome> => ({
  removed: 0,
  restored: 0,
  gone: 0,
  kept: [],
  refusedIds: [],
});

/** The rows that were refused before, and the outcome of all others, which have theirs for good. */
const openRest = ({ refusedIds = [], ...outcome }: UndoOutcome) => ({
  ids: refusedIds,
  outcome: {
    ...outcome,
    kept: outcome.kept.filter(({ reason }) => reason !== 'Refused'),
    refusedIds: [] as string[],
  },
});

/** Divides rows into parts of bounded length, in the one order in which rows are locked. */
async function partsOf(
  statements: UndoStatements,
  ids: readonly string[],
  { connection, caller, jobId }: BatchContext,
): Promise<string[][]> {
  const { rows } = await inIndexOrder(connection, () =>
    connection.query<{ id: string; bytes: number }>(statements.measure, [caller.tenantId, jobId, ids]),
  );
  const bytesById = new Map(rows.map(({ id, bytes }) => [id, bytes]));
  const parts: string[][] = [[]];
  let length = 0;
  for (const id of ids.toSorted()) {
    const bytes = bytesById.get(id) ?? 0;
    if (length > 0 && length + bytes > BYTES_TOGETHER_MAX) {
      parts.push([]);
      length = 0;
    }
    parts.at(-1)!.push(id);
    length += bytes;
  }
  return parts;
}

async function undoRows(
  definition: ExchangeDefinition,
  statements: UndoStatements,
  { inserted, updated, transactions }: { inserted: string[]; updated: string[]; transactions: string[] },
  context: BatchContext,
): Promise<Required<UndoOutcome>> {
  const ids = [...inserted, ...updated];
  // Before the rows are locked: the check may take locks that other transactions take before those of rows.
  const refused = await refusedOf(definition, statements, ids, context);
  const current = await lockAndCompare(statements, ids, transactions, context);

  const rows = new Map(current.map(({ id, row }) => [id, row]));
  const places = new Map(current.map(({ id, place }) => [id, place]));
  const reasons = new Map<string, KeptRowReason>();
  for (const id of updated) if (!rows.has(id)) reasons.set(id, 'DeletedSince');
  for (const { id, isUnchanged } of current) {
    if (!isUnchanged) reasons.set(id, 'ChangedSince');
    else if (refused.has(id)) reasons.set(id, 'Refused');
  }
  const revert = async (change: Change, candidates: readonly string[], otherwise: KeptRowReason) => {
    const possible = candidates.filter((id) => rows.has(id) && !reasons.has(id));
    const changed = await changeRows(context.connection, change, possible);
    for (const id of possible) if (!changed.has(id)) reasons.set(id, otherwise);
    return changed;
  };
  const { connection, caller, jobId } = context;
  const change = (statement: string, ids: readonly string[]) =>
    byPlace(connection, () =>
      connection.query<ChangedRow>(statement, [caller.tenantId, jobId, ids.map((id) => places.get(id))]),
    );
  const removed = await revert(async (ids) => (await change(statements.remove, ids)).rows, inserted, 'InUse');
  const restored = await revert(
    async (ids) => {
      const { rows: changed } = await change(statements.restore, ids);
      await inIndexOrder(connection, () =>
        connection.query(statements.recordRestored, [
          caller.tenantId,
          jobId,
          changed.map(({ id }) => id),
          changed[0]?.transaction,
        ]),
      );
      return changed;
    },
    updated,
    'Conflict',
  );
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
    refusedIds: ids.filter((id) => reasons.get(id) === 'Refused'),
  };
}

async function refusedOf(
  { checkUndo }: ExchangeDefinition,
  statements: UndoStatements,
  ids: readonly string[],
  context: BatchContext,
): Promise<ReadonlySet<string>> {
  if (!checkUndo) return new Set();
  const { connection, caller, jobId } = context;
  const { rows } = await inIndexOrder(connection, () =>
    connection.query<UndoableRow>(statements.read, [caller.tenantId, jobId, ids]),
  );
  return checkUndo(rows, context);
}

/** Locks rows; returns them, each with whether it is unchanged since the write. */
async function lockAndCompare(
  statements: UndoStatements,
  ids: readonly string[],
  transactions: readonly string[],
  { connection, caller }: BatchContext,
) {
  const inOneOrder = ids.toSorted();
  const { rows } = await inIndexOrder(connection, async () => {
    await connection.query(statements.lock, [caller.tenantId, inOneOrder]);
    return connection.query<{ id: string; place: string; row: StoredRow; isUnchanged: boolean }>(
      statements.compare,
      [caller.tenantId, inOneOrder, transactions],
    );
  });
  return rows;
}

interface ChangedRow {
  id: string;
  row: StoredRow;
  transaction?: string;
}

/** Changes rows by one statement, and returns them. */
type Change = (ids: readonly string[]) => Promise<ChangedRow[]>;

/** Changes rows and returns them by id; those that the database refuses are found by halving, and left out. */
async function changeRows(
  connection: PoolClient,
  change: Change,
  ids: readonly string[],
): Promise<Map<string, StoredRow>> {
  if (ids.length === 0) return new Map();
  const changed = await inSavepoint(connection, () => change(ids));
  if (!(changed instanceof Error)) return new Map(changed.map(({ id, row }) => [id, row]));
  if (ids.length === 1) return new Map();
  const half = Math.ceil(ids.length / 2);
  return new Map([
    ...(await changeRows(connection, change, ids.slice(0, half))),
    ...(await changeRows(connection, change, ids.slice(half))),
  ]);
}

async function describeKept(
  statements: UndoStatements,
  reasons: ReadonlyMap<string, KeptRowReason>,
  { connection, caller, jobId }: BatchContext,
): Promise<UndoOutcome['kept']> {
  if (reasons.size === 0) return [];
  const { rows } = await inIndexOrder(connection, () =>
    connection.query<{ id: string; rowNumber: number | null; key: string }>(statements.describe, [
      caller.tenantId,
      jobId,
      [...reasons.keys()],
    ]),
  );
  return rows.map(({ id, rowNumber, key }) => ({ rowNumber, key, reason: reasons.get(id)! }));
}
