import { createHash } from 'node:crypto';
import type { Caller } from '@plinth/kernel/caller';
import { inTenantConnection } from '@plinth/runtime/postgres';
import type { Pool, PoolClient } from 'pg';
import { rowConverter, type Conversion, type ConvertedRow, type RawRow } from './convert';
import type { BatchContext, ExchangeDefinition, RowFault } from './definition';
import { relationResolver } from './relation';
import type { CellFormat } from './local-cells';
import { batchWriter, duplicateOf, type ImportMode } from './write-batch';

export type Commit = 'EACH_BATCH' | 'ALL_OR_NOTHING' | 'NEVER';

export interface ImportStart {
  definition: ExchangeDefinition;
  jobId: string;
  columns: readonly string[];
  mode: ImportMode;
  commit: Commit;
  caller: Caller;
  format?: CellFormat;
}

/** What became of one batch; kept with it, so that a repeated batch is answered the same. */
export interface BatchOutcome {
  inserted: number;
  updated: number;
  skipped: number;
  failed: number;
  faults: RowFault[];
}

export interface Batch {
  number: number;
  rows: readonly RawRow[];
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
const BULK_LIMITS = `SET LOCAL statement_timeout = '10min'; SET LOCAL idle_in_transaction_session_timeout = '10min'`;
const DAYS_KEPT = 7;

/** Opens one import of one job: where it stands, and how its batches are applied. */
export async function openImportSession(pool: Pool, start: ImportStart): Promise<ImportSession> {
  const { definition, caller, jobId, commit } = start;
  // A part of the key that the file leaves out is empty in every row.
  const columns = [
    ...start.columns,
    ...definition.key.filter((property) => !start.columns.includes(property)),
  ];
  const convert = rowConverter(definition, columns, start.format);
  const resolveRelations = relationResolver(definition, columns);
  const writer = batchWriter(definition, columns, start.mode, caller.userId);
  const inOwnTransaction = <Result>(work: (connection: PoolClient) => Promise<Result>) =>
    inTenantConnection(pool, caller.tenantId, async (connection) => {
      await connection.query(BULK_LIMITS);
      return work(connection);
    });

  /** Whether any row of the job could not be written: only then keys outside the table must be looked for. */
  let hasUnwrittenKeys = false;

  const write = async (connection: PoolClient, conversion: Conversion): Promise<BatchOutcome> => {
    const context: BatchContext = { connection, caller, jobId };
    const faults = [...conversion.faults];
    const unique = await withoutDuplicates(definition, conversion, context, faults, hasUnwrittenKeys);
    const resolved = await resolveRelations(unique, context);
    const refused = definition.check ? await definition.check(resolved.rows, context) : [];
    const refusedRows = new Set(refused.map(({ rowNumber }) => rowNumber));
    const accepted =
      refusedRows.size > 0
        ? resolved.rows.filter(({ rowNumber }) => !refusedRows.has(rowNumber))
        : resolved.rows;
    const written = await writer.write(accepted, context);
    faults.push(...resolved.faults, ...refused, ...written.faults);
    const changed = [...written.inserted, ...written.updated];
    if (changed.length > 0 && commit !== 'NEVER') await definition.afterWrite?.(changed, context);
    const failedRows = new Set(faults.map(({ rowNumber }) => rowNumber));
    const unwritten = [
      ...conversion.faulty,
      ...unique.filter(({ rowNumber }) => failedRows.has(rowNumber)),
      ...written.skipped,
    ];
    if (unwritten.length > 0) {
      await rememberKeys(context, unwritten as { rowNumber: number; key: string }[]);
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

  /** Takes the turn of this batch in the ledger; a batch that had its turn is answered as it was. */
  const writeOnce = async (
    connection: PoolClient,
    batch: Batch,
    conversion: Conversion,
  ): Promise<BatchOutcome | 'sealed'> => {
    const turn = await connection.query(
      `UPDATE exchange_job SET last_batch = $3, changed_at = now()
       WHERE tenant_id = $1 AND job_id = $2 AND last_batch = $3 - 1 AND NOT is_sealed`,
      [caller.tenantId, jobId, batch.number],
    );
    if (turn.rowCount === 0) return formerOutcome(connection, caller.tenantId, jobId, batch.number);
    const outcome = await write(connection, conversion);
    await connection.query(
      'INSERT INTO exchange_batch (tenant_id, job_id, batch_number, outcome) VALUES ($1, $2, $3, $4)',
      [caller.tenantId, jobId, batch.number, JSON.stringify(outcome)],
    );
    return outcome;
  };

  const job = await inOwnTransaction((connection) => openJob(connection, caller.tenantId, jobId));
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
        ? write(whole.connection, conversion)
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

/** Keeps the first row of each key; the others are faults that name it. */
async function withoutDuplicates(
  definition: ExchangeDefinition,
  conversion: Conversion,
  context: BatchContext,
  faults: RowFault[],
  hasUnwrittenKeys: boolean,
): Promise<ConvertedRow[]> {
  const firstByKey = new Map<string, number>();
  for (const { rowNumber, key } of [...conversion.faulty, ...conversion.rows] as {
    rowNumber: number;
    key: string;
  }[]) {
    const first = firstByKey.get(key);
    if (first === undefined || rowNumber < first) firstByKey.set(key, rowNumber);
  }
  const earlier = hasUnwrittenKeys
    ? await recallKeys(context, [...firstByKey.keys()])
    : new Map<string, number>();
  return conversion.rows.filter((row) => {
    const first = earlier.get(row.key!) ?? firstByKey.get(row.key!)!;
    if (first === row.rowNumber) return true;
    faults.push(duplicateOf(definition, row, first));
    return false;
  });
}

const hashOf = (key: string): string => createHash('sha256').update(key).digest('hex').slice(0, 32);

async function rememberKeys(
  { connection, caller, jobId }: BatchContext,
  rows: readonly { rowNumber: number; key: string }[],
) {
  await connection.query(
    `INSERT INTO exchange_key (tenant_id, job_id, key_hash, row_number)
     SELECT $1, $2, * FROM unnest($3::uuid[], $4::int[]) ON CONFLICT DO NOTHING`,
    [caller.tenantId, jobId, rows.map(({ key }) => hashOf(key)), rows.map(({ rowNumber }) => rowNumber)],
  );
}

async function recallKeys(
  { connection, caller, jobId }: BatchContext,
  keys: readonly string[],
): Promise<Map<string, number>> {
  const keysByHash = new Map(keys.map((key) => [hashOf(key), key]));
  const { rows } = await connection.query<{ key_hash: string; row_number: number }>(
    'SELECT key_hash, row_number FROM exchange_key WHERE tenant_id = $1 AND job_id = $2 AND key_hash = ANY($3::uuid[])',
    [caller.tenantId, jobId, [...keysByHash.keys()]],
  );
  return new Map(
    rows.map(({ key_hash, row_number }) => [keysByHash.get(key_hash.replaceAll('-', ''))!, row_number]),
  );
}

/** Notes that the job exists and forgets what is older than anybody asks for. */
async function openJob(
  connection: PoolClient,
  tenantId: string,
  jobId: string,
): Promise<{ lastBatch: number; hasUnwrittenKeys: boolean }> {
  await connection.query(
    `DELETE FROM exchange_job WHERE tenant_id = $1 AND changed_at < now() - interval '${DAYS_KEPT} days'`,
    [tenantId],
  );
  await connection.query(
    'INSERT INTO exchange_job (tenant_id, job_id) VALUES ($1, $2) ON CONFLICT DO NOTHING',
    [tenantId, jobId],
  );
  const { rows } = await connection.query<{ last_batch: number; has_keys: boolean }>(
    `SELECT last_batch, EXISTS (SELECT FROM exchange_key AS k WHERE k.tenant_id = $1 AND k.job_id = $2) AS has_keys
     FROM exchange_job WHERE tenant_id = $1 AND job_id = $2`,
    [tenantId, jobId],
  );
  return { lastBatch: rows[0]?.last_batch ?? 0, hasUnwrittenKeys: rows[0]?.has_keys ?? false };
}

async function formerOutcome(
  connection: PoolClient,
  tenantId: string,
  jobId: string,
  number: number,
): Promise<BatchOutcome | 'sealed'> {
  const { rows } = await connection.query<{ outcome: BatchOutcome }>(
    'SELECT outcome FROM exchange_batch WHERE tenant_id = $1 AND job_id = $2 AND batch_number = $3',
    [tenantId, jobId, number],
  );
  return rows[0]?.outcome ?? 'sealed';
}

/** From now on no batch of the job is applied; answers the last one that is. */
export async function sealImport(pool: Pool, tenantId: string, jobId: string): Promise<number> {
  return inTenantConnection(pool, tenantId, async (connection) => {
    const { rows } = await connection.query<{ last_batch: number }>(
      `INSERT INTO exchange_job (tenant_id, job_id, is_sealed) VALUES ($1, $2, true)
       ON CONFLICT (tenant_id, job_id) DO UPDATE SET is_sealed = true, changed_at = now() RETURNING last_batch`,
      [tenantId, jobId],
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
