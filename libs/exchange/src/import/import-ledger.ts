import { uuidFrom } from '@plinth/kernel/uuid-from';
import type { PoolClient } from 'pg';
import { inIndexOrder, lookUp } from '../look-up';
import type { AppliedBatch, BatchOutcome } from './batch';
import { UnwrittenKeys } from './unwritten-keys';

/** A batch in the import ledger, the tables that record which batches of a job were written. */
export interface BatchKey {
  tenantId: string;
  ledgerId: string;
  number: number;
}

/** The id under which the batches of a range are recorded: for the first range that of its job, else derived from it. */
export function ledgerOf(jobId: string, range: number): string {
  return range === 0 ? jobId : uuidFrom(`${jobId}/${range}`, 'a');
}

const UNWRITTEN_KEYS = lookUp({
  table: 'exchange_key',
  columns: ['job_id'],
  values: ['$2::uuid'],
  select: 't.key_hash',
  limit: UnwrittenKeys.readMax,
});

/** Records that the job exists and makes progress; returns where its range stands. */
export async function openLedger(
  connection: PoolClient,
  tenantId: string,
  jobId: string,
  range: number,
): Promise<{ lastBatch: number; unwrittenKeys: UnwrittenKeys }> {
  const ids = [tenantId, jobId, ledgerOf(jobId, range)];
  await connection.query(
    `INSERT INTO exchange_job (tenant_id, job_id) SELECT DISTINCT $1::uuid, unnest(ARRAY[$2, $3]::uuid[])
     ON CONFLICT (tenant_id, job_id) DO UPDATE SET changed_at = now()`,
    ids,
  );
  const { rows } = await connection.query<{ last_batch: number }>(
    'SELECT last_batch FROM exchange_job WHERE tenant_id = $1 AND job_id = $2',
    [tenantId, ids[2]],
  );
  const keys = await inIndexOrder(connection, () =>
    connection.query<{ hashes: Buffer | null }>(
      `SELECT string_agg(uuid_send(k.key_hash), '') AS hashes FROM ${UNWRITTEN_KEYS} AS k`,
      [tenantId, jobId],
    ),
  );
  return {
    lastBatch: rows[0]?.last_batch ?? 0,
    unwrittenKeys: new UnwrittenKeys(keys.rows[0]?.hashes ?? undefined),
  };
}

/** Applies the batch that comes next in its range; a batch that was applied before gets its stored outcome. */
export async function applyOnce(
  connection: PoolClient,
  batch: BatchKey,
  apply: () => Promise<AppliedBatch>,
): Promise<BatchOutcome | 'sealed'> {
  if (!(await advanceLedger(connection, batch))) return storedOutcome(connection, batch);
  const applied = await apply();
  await recordOutcome(connection, batch, applied);
  return applied.outcome;
}

/** Takes the place of the batch that comes next in its range; returns whether this is the one, and may still be written. */
export async function advanceLedger(
  connection: PoolClient,
  { tenantId, ledgerId, number }: BatchKey,
): Promise<boolean> {
  const { rowCount } = await connection.query(
    `UPDATE exchange_job SET last_batch = $3, changed_at = now()
     WHERE tenant_id = $1 AND job_id = $2 AND last_batch = $3 - 1 AND NOT is_sealed`,
    [tenantId, ledgerId, number],
  );
  return rowCount === 1;
}

/** Stores what became of a batch that took its place, in the same transaction. */
export async function recordOutcome(
  connection: PoolClient,
  { tenantId, ledgerId, number }: BatchKey,
  { outcome, keptBytes }: AppliedBatch,
): Promise<void> {
  await connection.query(
    `INSERT INTO exchange_batch (tenant_id, job_id, batch_number, outcome, kept_bytes)
     VALUES ($1, $2, $3, to_jsonb($4::text), $5)`,
    [tenantId, ledgerId, number, JSON.stringify(toStored(outcome)), keptBytes],
  );
}

/** Accepts no further batch of the range; returns the number of the last one that was applied. */
export async function sealLedger(
  connection: PoolClient,
  tenantId: string,
  jobId: string,
  range: number,
): Promise<number> {
  const { rows } = await connection.query<{ last_batch: number }>(
    `INSERT INTO exchange_job (tenant_id, job_id, is_sealed) VALUES ($1, $2, true)
     ON CONFLICT (tenant_id, job_id) DO UPDATE SET is_sealed = true, changed_at = now() RETURNING last_batch`,
    [tenantId, ledgerOf(jobId, range)],
  );
  return rows[0]!.last_batch;
}

/**
 * The JSON of an outcome; `faults` is the name that stored outcomes have for errors. It is stored as one text, because
 * Postgres takes four times as long to read its hundreds of errors as to store them.
 */
type StoredOutcome = Omit<BatchOutcome, 'errors'> & { faults: BatchOutcome['errors'] };

const toStored = ({ errors, ...outcome }: BatchOutcome): StoredOutcome => ({ ...outcome, faults: errors });

async function storedOutcome(
  connection: PoolClient,
  { tenantId, ledgerId, number }: BatchKey,
): Promise<BatchOutcome | 'sealed'> {
  const { rows } = await connection.query<{ outcome: StoredOutcome | string }>(
    'SELECT outcome FROM exchange_batch WHERE tenant_id = $1 AND job_id = $2 AND batch_number = $3',
    [tenantId, ledgerId, number],
  );
  if (!rows[0]) return 'sealed';
  const stored = rows[0].outcome;
  const { faults: errors, ...outcome } =
    typeof stored === 'string' ? (JSON.parse(stored) as StoredOutcome) : stored;
  return { ...outcome, errors };
}
