import { backgroundTask } from '@plinth/runtime/process/background-task';
import type { Close } from '@plinth/runtime/process/lifecycle';
import type { Log } from '@plinth/runtime/process/log';
import type { FairPool } from '@plinth/runtime/postgres/fair-pool';
import { Counter, type Registry } from 'prom-client';
import { z } from 'zod';

/** What every service with exchangeable data reads, and data exchange. */
export const undoEnvironment = {
  EXCHANGE_UNDO_DAYS: z.coerce
    .number()
    .positive()
    .default(7)
    .describe('How long an import can be undone; its former rows and its ledger are stored for a day more.'),
};

const HOUR_MILLISECONDS = 3_600_000;

/** What is deleted with age, by table: the rest of a ledger goes with its job. */
const AGES = { exchange_job: 'changed_at', exchange_former: 'kept_at' } as const;

interface Cleanup {
  pool: FairPool;
  log: Log;
  config: { EXCHANGE_UNDO_DAYS: number };
  metrics: Registry;
}

/**
 * Deletes, for all tenants, the ledgers of imports that can no longer be undone: their batches, writes and former rows.
 * Returns how many rows of each table.
 */
export async function deleteExpiredImports(
  pool: FairPool,
  undoDays: number,
): Promise<Record<string, number>> {
  const deleted: Record<string, number> = {};
  const connection = await pool.connect();
  try {
    await connection.query(`BEGIN; SET LOCAL plinth.scope = 'platform'`);
    for (const [table, age] of Object.entries(AGES)) {
      const { rowCount } = await connection.query(
        `DELETE FROM ${table} WHERE ${age} < now() - make_interval(secs => $1)`,
        [(undoDays + 1) * 86_400],
      );
      deleted[table] = rowCount ?? 0;
    }
    await connection.query('COMMIT');
    connection.release();
  } catch (error) {
    connection.release(error as Error);
    throw error;
  }
  return deleted;
}

/** Deletes them every hour while the process lives, and counts what was deleted. */
export function startImportCleanup({ pool, log, config, metrics }: Cleanup): Close {
  const expired = new Counter({
    name: 'plinth_import_ledger_expired_total',
    help: 'Imports and former rows that were deleted because no undo can need them any more.',
    labelNames: ['table'],
    registers: [metrics],
  });
  const run = async () => {
    const deleted = await deleteExpiredImports(pool, config.EXCHANGE_UNDO_DAYS);
    for (const [table, count] of Object.entries(deleted)) expired.inc({ table }, count);
  };
  return backgroundTask(run, { name: 'import cleanup', intervalMilliseconds: HOUR_MILLISECONDS, log }).close;
}
