import { Client } from 'pg';
import { eventually } from './eventually';

/**
 * Holds a lock in a database while requests come to wait, each beginning when the one before it waits, and then releases
 * it: what one read before it waited is outdated by those before it, at every run.
 * @param locking statements of a superuser, whose transaction is committed at the end
 */
export async function behindLock<Result>(
  adminUrl: string,
  locking: readonly { text: string; values: unknown[] }[],
  ...requests: readonly (() => Promise<Result>)[]
): Promise<Result[]> {
  const admin = new Client({ connectionString: adminUrl });
  await admin.connect();
  try {
    await admin.query('BEGIN');
    for (const statement of locking) await admin.query(statement);
    const sent: Promise<Result>[] = [];
    for (const request of requests) {
      sent.push(request());
      await eventually(async () => {
        const { rowCount } = await admin.query(
          `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        );
        return rowCount! >= sent.length;
      });
    }
    await admin.query('COMMIT');
    return await Promise.all(sent);
  } finally {
    await admin.end();
  }
}
