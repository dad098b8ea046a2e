import type { Caller } from '@plinth/kernel/caller';
import { notFound } from '@plinth/kernel/problem';
import { escapeIdentifier, type PoolClient } from 'pg';
import { inBulkTransaction, type BulkDatabase } from '../bulk-transaction';
import type { BatchContext, ExchangeDefinition } from '../definition';
import { undoStatements, type UndoStatements } from './undo-statements';
import { undoWrite, type RecordedWrite, type UndoOutcome } from './undo-write';

/** Which import is undone, and for which caller. */
export interface UndoOptions {
  definition: ExchangeDefinition;
  jobId: string;
  caller: Caller;
  /** Continues with the write before this one; 0 begins with the last one of the job. */
  after: number;
}

/** The outcome of undoing one write of a job. */
export type UndoneWrite = UndoOutcome & { number: number };

/**
 * Undoes what a job wrote, write by write, the last one first. Each is one transaction that also stores its outcome, so
 * it can be interrupted anywhere: for a write that is undone already the stored outcome is returned. Only rows that were
 * refused are tried again, since others may undo them, and the outcome is then that of both together.
 */
export async function* undoImport(database: BulkDatabase, options: UndoOptions): AsyncGenerator<UndoneWrite> {
  const { definition, jobId, caller } = options;
  const inTenant = <Result>(work: (context: BatchContext) => Promise<Result>) =>
    inBulkTransaction(database, caller.tenantId, (transaction) => work({ ...transaction, caller, jobId }));
  const statements = await inTenant(async (context) => {
    await keepLedger(context);
    return undoStatements(definition, await columnsOf(context.connection, definition), caller.userId);
  });
  let { after } = options;
  for (;;) {
    const undone = await inTenant((context) => undoNext(definition, statements, after, context));
    if (!undone) return;
    definition.afterCommit?.({ caller });
    yield undone;
    after = undone.number;
  }
}

/**
 * Keeps the ledger from being deleted while the import is undone: it is as old as the last time that somebody went on with
 * that, so that an undo that ends early keeps it no longer than another one that begins then.
 * @throws Problem `not-found` where its deletion has begun: the rest of the import would be all that is undone
 */
async function keepLedger({ connection, caller, jobId }: BatchContext): Promise<void> {
  const { rowCount } = await connection.query(
    'UPDATE exchange_job SET changed_at = now() WHERE tenant_id = $1 AND job_id = $2 AND NOT is_expired',
    [caller.tenantId, jobId],
  );
  if (rowCount === 0) throw notFound('The changes of this import are no longer stored.');
}

/** The columns that are not generated. */
async function columnsOf(connection: PoolClient, { table }: ExchangeDefinition): Promise<string[]> {
  const { rows } = await connection.query<{ name: string }>(
    `SELECT attname AS name FROM pg_attribute
     WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''`,
    [escapeIdentifier(table)],
  );
  return rows.map(({ name }) => name);
}

async function undoNext(
  definition: ExchangeDefinition,
  statements: UndoStatements,
  after: number,
  context: BatchContext,
): Promise<UndoneWrite | undefined> {
  const { connection, caller, jobId } = context;
  const { rows } = await connection.query<RecordedWrite & { number: number }>(
    `SELECT number::float8 AS number, transactions, inserted, updated, undone FROM exchange_write
     WHERE tenant_id = $1 AND job_id = $2 AND ($3 = 0 OR number < $3)
     ORDER BY number DESC LIMIT 1 FOR UPDATE`,
    [caller.tenantId, jobId, after],
  );
  const [write] = rows;
  if (!write) return undefined;
  const { number } = write;
  if (write.undone && !write.undone.refusedIds?.length) return { ...write.undone, number };
  const outcome = await undoWrite(definition, statements, write, context);
  await connection.query(
    'UPDATE exchange_write SET undone = $4 WHERE tenant_id = $1 AND job_id = $2 AND number = $3',
    [caller.tenantId, jobId, number, JSON.stringify(outcome)],
  );
  return { ...outcome, number };
}
