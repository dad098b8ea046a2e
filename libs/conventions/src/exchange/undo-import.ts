import type { Caller } from '@plinth/kernel/caller';
import { notFound } from '@plinth/kernel/problem';
import { inTenantConnection } from '@plinth/runtime/postgres';
import { escapeIdentifier, type Pool, type PoolClient } from 'pg';
import type { BatchContext, ExchangeDefinition } from './definition';
import { BULK_LIMITS } from './import-session';
import { undoStatements, type UndoStatements } from './undo-statements';
import { undoWrite, type Outcome, type Write } from './undo-write';

export interface UndoRequest {
  definition: ExchangeDefinition;
  jobId: string;
  caller: Caller;
  /** Goes on behind this write; 0 begins with the last one of the job. */
  after: number;
}

export type UndoneWrite = Outcome & { number: number };

/**
 * Takes back what a job wrote, write by write, the last one first. Each is one transaction that also notes what became
 * of its rows, so it may be broken off anywhere: what is done already is answered as it was.
 */
export async function* undoImport(pool: Pool, request: UndoRequest): AsyncGenerator<UndoneWrite> {
  const { definition, jobId, caller } = request;
  const inTenant = <Result>(work: (context: BatchContext) => Promise<Result>) =>
    inTenantConnection(pool, caller.tenantId, async (connection) => {
      await connection.query(BULK_LIMITS);
      return work({ connection, caller, jobId });
    });
  const statements = await inTenant(async (context) => {
    await requireKnown(context);
    return undoStatements(definition, await columnsOf(context.connection, definition), caller.userId);
  });
  let { after } = request;
  for (;;) {
    const undone = await inTenant((context) => undoNext(definition, statements, after, context));
    if (!undone) return;
    definition.afterCommit?.({ caller });
    yield undone;
    after = undone.number;
  }
}

async function requireKnown({ connection, caller, jobId }: BatchContext): Promise<void> {
  const { rowCount } = await connection.query(
    'SELECT FROM exchange_job WHERE tenant_id = $1 AND job_id = $2',
    [caller.tenantId, jobId],
  );
  if (rowCount === 0) throw notFound('What this import changed is no longer known.');
}

/** The columns that have values of their own. */
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
  const { rows } = await connection.query<Write & { number: number; undone: Outcome | null }>(
    `SELECT number::float8 AS number, transactions, inserted, updated, undone FROM exchange_write
     WHERE tenant_id = $1 AND job_id = $2 AND ($3 = 0 OR number < $3)
     ORDER BY number DESC LIMIT 1 FOR UPDATE`,
    [caller.tenantId, jobId, after],
  );
  const [write] = rows;
  if (!write) return undefined;
  const { number } = write;
  if (write.undone) return { ...write.undone, number };
  const outcome = await undoWrite(definition, statements, write, context);
  await connection.query(
    'UPDATE exchange_write SET undone = $4 WHERE tenant_id = $1 AND job_id = $2 AND number = $3',
    [caller.tenantId, jobId, number, JSON.stringify(outcome)],
  );
  return { ...outcome, number };
}
