import { createHash } from 'node:crypto';
import type { Caller } from '@plinth/kernel/caller';
import { inTenantConnection } from '@plinth/runtime/postgres';
import type { Pool, PoolClient } from 'pg';
import { hasKey, rowConverter, type Conversion, type ConvertedRow, type RawRow } from './convert';
import { isUndoable, type BatchContext, type ExchangeDefinition, type RowFault } from './definition';
import { rememberKeys, sortOut, sortOutKnown } from './earlier-rows';
import { relationResolver } from './relation';
import type { CellFormat } from './local-cells';
import { batchWriter, duplicateOf } from './write-batch';
import type { ImportMode } from './write-statements';

export type Commit = 'EACH_BATCH' | 'ALL_OR_NOTHING' | 'NEVER';

export interface ImportStart {
  definition: ExchangeDefinition;
  jobId: string;
  columns: readonly string[];
  mode: ImportMode;
  commit: Commit;
  caller: Caller;
  format?: CellFormat;
  /** Which range of the file the batches are of; each has batches of its own. */
  range: number;
  /** Batches say which of their rows repeat a key. */
  knowsDuplicates: boolean;
}

/** What became of one batch; kept with it, so that a repeated batch is answered the same. */
export interface BatchOutcome {
  inserted: number;
  updated: number;
  skipped: number;
  failed: number;
  faults: RowFault[];
  /** Row numbers and their keys, where keys were asked for. */
  keys?: [rowNumber: number, key: string][];
}

export interface Batch {
  number: number;
  rows: readonly RawRow[];
  /** Rows of the batch, each with the first row of the file that has the same key. */
  duplicates: readonly (readonly [row: number, first: number])[];
}

export interface ImportSession {
  lastBatch: number;
  /** Reads the cells of a batch; needs no database, so it can be done while the batch before is written. */
  convert(batch: Batch): Conversion;
  /** Applies a batch, or answers `sealed` when the job takes no more. */
  apply(batch: Batch, conversion: Conversion): Promise<BatchOutcome | 'sealed'>;
  /** All batches have come. Answers whether what they did stays. */
  end(): Promise<boolean>;
  /** Gives up what is not committed. */
  close(): Promise<void>;
}

/** Bulk work may take longer than a request. */
export const BULK_LIMITS = `SET LOCAL statement_timeout = '10min'; SET LOCAL idle_in_transaction_session_timeout = '10min'`;

/** Opens one import of one job: where it stands, and how its batches are applied. */
export async function openImportSession(pool: Pool, start: ImportStart): Promise<ImportSession> {
  const { definition, caller, jobId, commit, knowsDuplicates } = start;
  const ledgerId = ledgerOf(jobId, start.range);
  const columns = columnsWithKey(definition, start.columns);
  const convert = rowConverter(definition, columns, start.format);
  const resolveRelations = relationResolver(definition, columns);
  const writer = batchWriter(definition, columns, {
    mode: start.mode,
    callerId: caller.userId,
    canBeUndone: commit !== 'NEVER' && isUndoable(definition),
  });
  const inOwnTransaction = <Result>(work: (connection: PoolClient) => Promise<Result>) =>
    inTenantConnection(pool, caller.tenantId, async (connection) => {
      await connection.query(BULK_LIMITS);
      return work(connection);
    });

  /** Whether any row of the job could not be written: only then keys outside the table must be looked for. */
  let hasUnwrittenKeys = false;

  const write = async (
    connection: PoolClient,
    { duplicates }: Batch,
    conversion: Conversion,
  ): Promise<BatchOutcome> => {
    const context: BatchContext = { connection, caller, jobId };
    const faults = [...conversion.faults];
    const { unique, repeated } = knowsDuplicates
      ? sortOutKnown(conversion, duplicates)
      : await sortOut(conversion, context, { hasUnwrittenKeys, findWritten: writer.findWritten });
    faults.push(...repeated.map(({ row, first }) => duplicateOf(definition, row, first)));
    const resolved = await resolveRelations(unique, conversion.faulty, context);
    const refused = definition.check ? await definition.check(resolved.rows, context) : [];
    const refusedRows = new Set(refused.map(({ rowNumber }) => rowNumber));
    const accepted =
      refusedRows.size > 0
        ? resolved.rows.filter(({ rowNumber }) => !refusedRows.has(rowNumber))
        : resolved.rows;
    const written = await writer.write(accepted, context);
    const unwritable = [...resolved.faults, ...refused, ...written.faults];
    faults.push(...(await repeatedFirst(unwritable, unique, context)));
    const changed = [...written.inserted, ...written.updated];
    if (changed.length > 0 && commit !== 'NEVER') await definition.afterWrite?.(changed, context);
    const failedRows = new Set(faults.map(({ rowNumber }) => rowNumber));
    const unwritten = [
      ...conversion.faulty,
      ...unique.filter(({ rowNumber }) => failedRows.has(rowNumber)),
      ...written.skipped,
    ].filter(hasKey);
    if (unwritten.length > 0 && !knowsDuplicates) {
      await rememberKeys(context, unwritten);
      hasUnwrittenKeys = true;
    }
    return {
      inserted: written.inserted.length,
      updated: written.updated.length,
      skipped: written.skipped.length,
      failed: failedRows.size,
      faults,
    };
  };

  /**
   * That a key stands in an earlier row goes before whatever else is wrong with a row. Inside a batch it was found
   * first; across batches only the table knows, and it is asked for the rows that failed.
   */
  const repeatedFirst = async (
    faults: readonly RowFault[],
    rows: readonly ConvertedRow[],
    context: BatchContext,
  ): Promise<readonly RowFault[]> => {
    if (faults.length === 0 || knowsDuplicates) return faults;
    const failed = new Set(faults.map(({ rowNumber }) => rowNumber));
    const failedRows = rows.filter(({ rowNumber }) => failed.has(rowNumber));
    const written = await writer.findWritten(failedRows, context);
    const repeated = failedRows.flatMap((row) => {
      const first = written.get(row.key!);
      return first === undefined ? [] : [duplicateOf(definition, row, first)];
    });
    const told = new Set(repeated.map(({ rowNumber }) => rowNumber));
    return [...faults.filter(({ rowNumber }) => !told.has(rowNumber)), ...repeated];
  };

  /** Takes the turn of this batch in the ledger; a batch that had its turn is answered as it was. */
  const writeOnce = async (
    connection: PoolClient,
    batch: Batch,
    conversion: Conversion,
  ): Promise<BatchOutcome | 'sealed'> => {
    const turn = await connection.query(
      `UPDATE exchange_job SET last_batch = $3, changed_at = now()
       WHERE tenant_id = $1 AND job_id = $2 AND last_batch = $3 - 1 AND NOT is_sealed`,
      [caller.tenantId, ledgerId, batch.number],
    );
    if (turn.rowCount === 0) return formerOutcome(connection, caller.tenantId, ledgerId, batch.number);
    const outcome = await write(connection, batch, conversion);
    await connection.query(
      'INSERT INTO exchange_batch (tenant_id, job_id, batch_number, outcome) VALUES ($1, $2, $3, $4)',
      [caller.tenantId, ledgerId, batch.number, JSON.stringify(outcome)],
    );
    return outcome;
  };

  const job = await inOwnTransaction((connection) => openJob(connection, caller.tenantId, jobId, ledgerId));
  hasUnwrittenKeys = job.hasUnwrittenKeys;
  const lastBatch = commit === 'NEVER' ? 0 : job.lastBatch;

  if (commit === 'EACH_BATCH') {
    return {
      lastBatch,
      convert: ({ rows }) => convert(rows),
      async apply(batch, conversion) {
        const outcome = await inOwnTransaction((connection) => writeOnce(connection, batch, conversion));
        definition.afterCommit?.({ caller });
        return outcome;
      },
      end: async () => true,
      close: async () => {},
    };
  }

  const whole = await openWholeTransaction(pool, caller.tenantId);
  return {
    lastBatch,
    convert: ({ rows }) => convert(rows),
    apply: (batch, conversion) =>
      commit === 'NEVER'
        ? write(whole.connection, batch, conversion)
        : writeOnce(whole.connection, batch, conversion),
    async end() {
      if (commit === 'NEVER') return false;
      await whole.commit();
      definition.afterCommit?.({ caller });
      return true;
    },
    close: whole.close,
  };
}

/** The columns of the file, and after them those of the key: a part of it that the file leaves out is empty in every row. */
export const columnsWithKey = (definition: ExchangeDefinition, columns: readonly string[]): string[] => [
  ...columns,
  ...definition.key.filter((property) => !columns.includes(property)),
];

/** Where the batches of a range are noted: the first one under the id of its job, the others under ids made from it. */
function ledgerOf(jobId: string, range: number): string {
  if (range === 0) return jobId;
  const digits = createHash('sha256').update(`${jobId}/${range}`).digest('hex').slice(0, 32);
  return `${digits.slice(0, 12)}8${digits.slice(13, 16)}a${digits.slice(17)}`;
}

/** Notes that the job exists, and that it is still worked on. */
async function openJob(
  connection: PoolClient,
  tenantId: string,
  jobId: string,
  ledgerId: string,
): Promise<{ lastBatch: number; hasUnwrittenKeys: boolean }> {
  await connection.query(
    `INSERT INTO exchange_job (tenant_id, job_id) SELECT DISTINCT $1::uuid, unnest(ARRAY[$2, $3]::uuid[])
     ON CONFLICT (tenant_id, job_id) DO UPDATE SET changed_at = now()`,
    [tenantId, jobId, ledgerId],
  );
  const { rows } = await connection.query<{ last_batch: number; has_keys: boolean }>(
    `SELECT last_batch, EXISTS (SELECT FROM exchange_key AS k WHERE k.tenant_id = $1 AND k.job_id = $2) AS has_keys
     FROM exchange_job WHERE tenant_id = $1 AND job_id = $3`,
    [tenantId, jobId, ledgerId],
  );
  return { lastBatch: rows[0]?.last_batch ?? 0, hasUnwrittenKeys: rows[0]?.has_keys ?? false };
}

async function formerOutcome(
  connection: PoolClient,
  tenantId: string,
  ledgerId: string,
  number: number,
): Promise<BatchOutcome | 'sealed'> {
  const { rows } = await connection.query<{ outcome: BatchOutcome }>(
    'SELECT outcome FROM exchange_batch WHERE tenant_id = $1 AND job_id = $2 AND batch_number = $3',
    [tenantId, ledgerId, number],
  );
  return rows[0]?.outcome ?? 'sealed';
}

/** From now on no batch of this range of the job is applied; answers the last one that is. */
export async function sealImport(
  pool: Pool,
  tenantId: string,
  jobId: string,
  range: number,
): Promise<number> {
  return inTenantConnection(pool, tenantId, async (connection) => {
    const { rows } = await connection.query<{ last_batch: number }>(
      `INSERT INTO exchange_job (tenant_id, job_id, is_sealed) VALUES ($1, $2, true)
       ON CONFLICT (tenant_id, job_id) DO UPDATE SET is_sealed = true, changed_at = now() RETURNING last_batch`,
      [tenantId, ledgerOf(jobId, range)],
    );
    return rows[0]!.last_batch;
  });
}

async function openWholeTransaction(pool: Pool, tenantId: string) {
  const connection = await pool.connect();
  let isOpen = true;
  const finish = async (statement: 'COMMIT' | 'ROLLBACK'): Promise<void> => {
    if (!isOpen) return;
    isOpen = false;
    try {
      await connection.query(statement);
      connection.release();
    } catch (error) {
      connection.release(error as Error);
      if (statement === 'COMMIT') throw error;
    }
  };
  try {
    await connection.query('BEGIN');
    await connection.query('SELECT set_config($1, $2, true)', ['plinth.tenant_id', tenantId]);
    await connection.query(BULK_LIMITS);
  } catch (error) {
    await finish('ROLLBACK');
    throw error;
  }
  return { connection, commit: () => finish('COMMIT'), close: () => finish('ROLLBACK') };
}
