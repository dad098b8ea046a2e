import { MigrationError } from '../migrate/migration-error.ts';
import { connected } from '../migrate/migrate-service.ts';

/** A service that runs would write beside rows that come from a dump, by what it remembers of those that were replaced. */
export async function refuseInUse(service: string, url: string, appRole: string): Promise<void> {
  const { rowCount } = await connected(url, (client) =>
    client.query('SELECT FROM pg_stat_activity WHERE datname = current_database() AND usename = $1', [
      appRole,
    ]),
  );
  if (rowCount) {
    throw new MigrationError(
      `${service} is connected to its database as ${appRole}: stop all processes of the platform. Nothing was restored.`,
    );
  }
}

/** Whether there are more tables than the one that a database has since it was provisioned. */
export async function hasTables(url: string): Promise<boolean> {
  const { rowCount } = await connected(url, (client) =>
    client.query(
      `SELECT FROM pg_tables WHERE schemaname = 'public' AND tablename <> '_prisma_migrations' LIMIT 1`,
    ),
  );
  return rowCount !== 0;
}

/**
 * Makes a database as it was created. `pg_restore --clean` would leave what its dump does not know, such as tables of a newer
 * version, and the migrations that make these would fail.
 */
export async function empty(url: string): Promise<void> {
  await connected(url, (client) =>
    // Several statements in one message are one transaction.
    client.query(`
      DROP SCHEMA IF EXISTS public CASCADE;
      CREATE SCHEMA public AUTHORIZATION pg_database_owner;
      GRANT USAGE ON SCHEMA public TO PUBLIC;
      COMMENT ON SCHEMA public IS 'standard public schema';`),
  );
}
