import type { Close } from '@plinth/runtime/lifecycle';
import type { Log } from '@plinth/runtime/log';
import type { RawStatements, TenantDatabase } from '@plinth/runtime/postgres';

const HOUR_MILLISECONDS = 3_600_000;
const DAYS_KEPT = 7;

/** Forgets operations that nobody repeats any more; an idempotency key lives for one day. */
export function sweepOperations(db: TenantDatabase<RawStatements>, log: Log): Close {
  const timer = setInterval(() => {
    forgetOldOperations(db).catch((error: unknown) =>
      log.warn({ err: error }, 'old operations are still there'),
    );
  }, HOUR_MILLISECONDS);
  timer.unref();
  return () => clearInterval(timer);
}

export const forgetOldOperations = (db: TenantDatabase<RawStatements>): Promise<number> =>
  db.inPlatform((tx) =>
    tx.$executeRawUnsafe(`DELETE FROM operation WHERE done_at < now() - interval '${DAYS_KEPT} days'`),
  );
