import { backgroundTask } from '@plinth/runtime/process/background-task';
import type { Close } from '@plinth/runtime/process/lifecycle';
import type { Log } from '@plinth/runtime/process/log';
import type { Pool } from 'pg';

/** An import can be undone for a week; its ledger is stored for a day more. */
const RETENTION_DAYS = 8;
const HOUR_MILLISECONDS = 3_600_000;

/** Deletes, for all tenants, the ledgers of imports that can no longer be undone: their batches, writes and former rows. */
export async function deleteExpiredImports(pool: Pool): Promise<void> {
  const connection = await pool.connect();
  try {
    await connection.query(
      `BEGIN; SET LOCAL plinth.scope = 'platform'; SET LOCAL statement_timeout = '10min'`,
    );
    for (const [table, age] of [
      ['exchange_job', 'changed_at'],
      ['exchange_former', 'kept_at'],
    ])
      await connection.query(`DELETE FROM ${table} WHERE ${age} < now() - interval '${RETENTION_DAYS} days'`);
    await connection.query('COMMIT');
    connection.release();
  } catch (error) {
    connection.release(error as Error);
    throw error;
  }
}

/** Deletes them every hour while the process lives. */
export const startImportCleanup = (pool: Pool, log: Log): Close =>
  backgroundTask(() => deleteExpiredImports(pool), {
    name: 'import cleanup',
    intervalMilliseconds: HOUR_MILLISECONDS,
    log,
  }).close;
