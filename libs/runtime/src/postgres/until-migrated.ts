import { setTimeout as pause } from 'node:timers/promises';
import type { Registry } from 'prom-client';
import type { FairPool } from './fair-pool';
import { answeredSoon } from './postgres';
import { measureParts } from './store-metrics';
import { ConfigurationError } from '../process/config';
import { Health, serveAdmin } from '../process/health';
import type { Close } from '../process/lifecycle';
import type { Log } from '../process/log';

const PAUSE_MILLISECONDS = 1_000;

export interface MigrationsOptions {
  pool: FairPool;
  /** The names of all migrations of the service, as this version was built with them. */
  migrations: readonly string[];
  config: { HTTP_HOST: string; ADMIN_PORT: number };
  log: Log;
  /** Of the process. While it waits, they have the part `migrations`, and `postgres`. */
  metrics: Registry;
  onClose: (close: Close) => void;
}

/**
 * Waits until the database has every migration that this version of the service was made for; those of later versions do
 * not matter. While it waits, the process is alive and not ready, and does nothing else: in an update it takes neither
 * requests nor events nor jobs on tables that it does not know, and the version before goes on. A database that is away is
 * waited for too. Health and metrics tell the two apart: the part `migrations` is down where a database that responds has not
 * all of them, `postgres` where it does not respond.
 * @throws ConfigurationError when the role of the connections may step around row-level security
 */
export async function untilMigrated({
  pool,
  migrations,
  config,
  log,
  metrics,
  onClose,
}: MigrationsOptions): Promise<void> {
  let unusable: ConfigurationError | undefined;
  let looking: Promise<string | undefined> | undefined;
  // Both parts are told by one answer, so that never both are up although there was none.
  const look = () =>
    (looking ??= missingMigration(pool, migrations)
      .catch((error: unknown) => {
        if (error instanceof ConfigurationError) unusable = error;
        throw error;
      })
      .finally(() => (looking = undefined)));
  let missing: string | undefined;
  const checks = {
    postgres: look,
    migrations: async () => {
      // While the database does not respond, what it said last.
      missing = await look().catch(() => missing);
      if (missing) throw new Error(`The database is not migrated to this version: ${missing} is missing.`);
    },
  };
  const health = new Health(checks, { log });
  const isDone = async () => {
    const { ready } = await health.readiness();
    if (unusable) throw unusable;
    return ready;
  };
  if (await isDone()) return;

  const closed = new AbortController();
  onClose(() => closed.abort());
  const endMeasuring = measureParts(metrics, health);
  const admin = await serveAdmin(config, health, metrics);
  try {
    do await pause(PAUSE_MILLISECONDS, undefined, { signal: closed.signal });
    while (!(await isDone()));
  } finally {
    // Port and metric are those of the process, which has them with all its parts.
    await admin.close();
    endMeasuring();
  }
}

/** What a server says that responds, but whose database or table of migrations was not made yet. */
const NOT_MADE_YET = ['3D000', '42P01'];

/**
 * The name of the first that is missing. A statement for all of them, since a migration may be applied after one that has a
 * later name.
 */
async function missingMigration(pool: FairPool, migrations: readonly string[]): Promise<string | undefined> {
  const statement = {
    ...answeredSoon(
      pool,
      `SELECT name FROM unnest($1::text[]) WITH ORDINALITY AS wanted (name, position)
        WHERE NOT EXISTS (SELECT FROM _prisma_migrations
                           WHERE migration_name = name AND finished_at IS NOT NULL AND rolled_back_at IS NULL)
        ORDER BY position LIMIT 1`,
    ),
    values: [migrations],
  };
  try {
    const { rows } = await pool.query<{ name: string }>(statement);
    return rows[0]?.name;
  } catch (error) {
    if (NOT_MADE_YET.includes((error as { code?: string }).code ?? '')) return migrations[0];
    throw error;
  }
}
