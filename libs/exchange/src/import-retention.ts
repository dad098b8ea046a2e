import { backgroundTask } from '@plinth/runtime/process/background-task';
import type { Close } from '@plinth/runtime/process/lifecycle';
import type { Log } from '@plinth/runtime/process/log';
import type { FairPool } from '@plinth/runtime/postgres/fair-pool';
import { inTenantConnection, readInPlatform } from '@plinth/runtime/postgres/postgres';
import type { PoolClient } from 'pg';
import { Counter, type Registry } from 'prom-client';
import { z } from 'zod';
import { unpackIds } from './import/write-record';

/** What every service with exchangeable data reads, and data exchange. */
export const undoEnvironment = {
  EXCHANGE_UNDO_DAYS: z.coerce
    .number()
    .positive()
    .default(7)
    .describe('How long an import can be undone; its former rows and its ledger are stored for a day more.'),
};

const HOUR_MILLISECONDS = 3_600_000;

interface Cleanup {
  pool: FairPool;
  log: Log;
  config: { EXCHANGE_UNDO_DAYS: number };
  metrics: Registry;
}

interface ExpiredJob {
  tenant_id: string;
  job_id: string;
  /** As text, which is as exact as Postgres. */
  changed_at: string;
}

/** Tells how many rows of a table a transaction has deleted. */
type CountDeleted = (table: string, count: number) => void;

const JOBS_AT_ONCE = 1_000;
const IS_EXPIRED = 'changed_at < now() - make_interval(secs => $1)';
const EXPIRED_JOBS = `SELECT tenant_id, job_id, changed_at::text FROM exchange_job WHERE ${IS_EXPIRED}`;
const IN_ORDER = `ORDER BY changed_at, tenant_id, job_id LIMIT ${JOBS_AT_ONCE}`;

/**
 * The ledger of a job before the job itself, and how many rows of each table one transaction deletes: a write has the ids
 * of up to 4,000 rows that it updated, whose former rows go with it, and a batch up to a megabyte of errors.
 */
const PARTS = [
  { table: 'exchange_key', order: 'key_hash', atOnce: 10_000 },
  { table: 'exchange_write', order: 'number', atOnce: 5, returned: 'updated' },
  { table: 'exchange_batch', order: 'batch_number', atOnce: 100 },
] as const;

/**
 * Deletes, for all tenants, the ledgers of imports that can no longer be undone: their keys, writes, former rows and
 * batches. One of them may be larger than what a transaction deletes in its time, so each goes in parts, and one that
 * cannot be deleted holds up no other.
 * @param isClosed is asked before each part, and ends the deleting; what is left goes the next time
 * @throws an error of a ledger, when all had their turn
 */
export async function deleteExpiredImports(
  pool: FairPool,
  undoDays: number,
  countDeleted: CountDeleted = () => {},
  isClosed: () => boolean = () => false,
): Promise<void> {
  const age = (undoDays + 1) * 86_400;
  const failures: unknown[] = [];
  let jobs: ExpiredJob[] = [];
  do {
    const last = jobs.at(-1);
    jobs = await readInPlatform<ExpiredJob>(
      pool,
      last
        ? {
            text: `${EXPIRED_JOBS} AND (changed_at, tenant_id, job_id) > ($2::timestamptz, $3::uuid, $4::uuid) ${IN_ORDER}`,
            values: [age, last.changed_at, last.tenant_id, last.job_id],
          }
        : { text: `${EXPIRED_JOBS} ${IN_ORDER}`, values: [age] },
    );
    for (const job of jobs)
      await deleteLedger(pool, job, { age, countDeleted, isClosed }).catch((error: unknown) =>
        failures.push(error),
      );
  } while (jobs.length === JOBS_AT_ONCE && !isClosed());
  if (failures.length > 0) throw failures[0];
}

async function deleteLedger(
  pool: FairPool,
  { tenant_id: tenantId, job_id: jobId }: ExpiredJob,
  { age, countDeleted, isClosed }: { age: number; countDeleted: CountDeleted; isClosed: () => boolean },
): Promise<void> {
  /** Does nothing to a job that was continued meanwhile, or that another process deletes, and nothing more once it is closed. */
  const whileExpired = async <Result>(work: (connection: PoolClient) => Promise<Result>) => {
    if (isClosed()) return undefined;
    return inTenantConnection(pool, tenantId, async (connection) => {
      const { rowCount } = await connection.query(
        `SELECT FROM exchange_job WHERE ${IS_EXPIRED} AND tenant_id = $2 AND job_id = $3 FOR UPDATE SKIP LOCKED`,
        [age, tenantId, jobId],
      );
      return rowCount === 0 ? undefined : work(connection);
    });
  };

  // Who would undo the import from now on finds that it is too late for all of it, and undoes no half of it.
  const isMarked = await whileExpired((connection) =>
    connection.query('UPDATE exchange_job SET is_expired = true WHERE tenant_id = $1 AND job_id = $2', [
      tenantId,
      jobId,
    ]),
  );
  if (!isMarked) return;
  for (const part of PARTS) {
    let next: unknown;
    do {
      const deleted = await whileExpired((connection) =>
        deletePart(connection, [tenantId, jobId], part, next),
      );
      if (!deleted) return;
      countDeleted(part.table, deleted.count);
      countDeleted('exchange_former', deleted.formerCount);
      ({ next } = deleted);
    } while (next !== undefined);
  }
  const isDeleted = await whileExpired((connection) =>
    connection.query('DELETE FROM exchange_job WHERE tenant_id = $1 AND job_id = $2', [tenantId, jobId]),
  );
  if (isDeleted) countDeleted('exchange_job', 1);
}

/**
 * Deletes the next rows of a table behind those that are deleted already, whose index entries are still there. Returns
 * where those begin that are left.
 */
async function deletePart(
  connection: PoolClient,
  job: [tenantId: string, jobId: string],
  { table, order, atOnce, ...part }: (typeof PARTS)[number],
  from: unknown,
): Promise<{ next: unknown; count: number; formerCount: number }> {
  const begun = from === undefined ? [] : [from];
  const left = `tenant_id = $1 AND job_id = $2 ${from === undefined ? '' : `AND ${order} >= $3`}`;
  const following = await connection.query<{ next: unknown }>(
    `SELECT ${order} AS next FROM ${table} WHERE ${left} ORDER BY ${order} OFFSET ${atOnce} LIMIT 1`,
    [...job, ...begun],
  );
  const next = following.rows[0]?.next;
  const end = next === undefined ? [] : [next];
  const deleted = await connection.query<{ updated: Buffer }>(
    `DELETE FROM ${table} WHERE ${left} ${next === undefined ? '' : `AND ${order} < $${3 + begun.length}`}
     ${'returned' in part ? `RETURNING ${part.returned}` : ''}`,
    [...job, ...begun, ...end],
  );
  const updated = deleted.rows.flatMap((row) => unpackIds(row.updated));
  const former =
    updated.length === 0
      ? undefined
      : await connection.query(
          'DELETE FROM exchange_former WHERE tenant_id = $1 AND job_id = $2 AND row_id = ANY($3::uuid[])',
          [...job, updated],
        );
  return { next, count: deleted.rowCount ?? 0, formerCount: former?.rowCount ?? 0 };
}

/** Deletes them every hour while the process lives, and counts what was deleted. */
export function startImportCleanup({ pool, log, config, metrics }: Cleanup): Close {
  const expired = new Counter({
    name: 'plinth_import_ledger_expired_total',
    help: 'Rows of the ledgers of imports that were deleted because no undo can need them any more.',
    labelNames: ['table'],
    registers: [metrics],
  });
  let isClosed = false;
  const run = () =>
    deleteExpiredImports(
      pool,
      config.EXCHANGE_UNDO_DAYS,
      (table, count) => expired.inc({ table }, count),
      () => isClosed,
    );
  const cleanup = backgroundTask(run, {
    name: 'import cleanup',
    intervalMilliseconds: HOUR_MILLISECONDS,
    log,
  });
  return () => {
    isClosed = true;
    return cleanup.close();
  };
}
