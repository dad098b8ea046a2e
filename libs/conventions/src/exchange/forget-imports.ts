import type { Close } from '@plinth/runtime/lifecycle';
import type { Log } from '@plinth/runtime/log';
import { sweepRegularly } from '@plinth/runtime/sweep-regularly';
import type { Pool } from 'pg';

/** An import can be undone for a week; how it went is known for a day more. */
const DAYS_KEPT = 8;
const HOUR_SECONDS = 3_600;

/** Forgets, for all tenants, imports that nobody can undo any more: their batches, writes and former rows. */
export async function forgetImports(pool: Pool): Promise<void> {
  const connection = await pool.connect();
  try {
    await connection.query(
      `BEGIN; SET LOCAL plinth.scope = 'platform'; SET LOCAL statement_timeout = '10min'`,
    );
    for (const [table, age] of [
      ['exchange_job', 'changed_at'],
      ['exchange_former', 'kept_at'],
    ])
      await connection.query(`DELETE FROM ${table} WHERE ${age} < now() - interval '${DAYS_KEPT} days'`);
    await connection.query('COMMIT');
    connection.release();
  } catch (error) {
    connection.release(error as Error);
    throw error;
  }
}

/** Does so every hour, for as long as the process lives. */
export function forgetImportsRegularly(pool: Pool, log: Log): Close {
  const forgetOldImports = () => forgetImports(pool);
  return sweepRegularly(forgetOldImports, HOUR_SECONDS, log);
}
