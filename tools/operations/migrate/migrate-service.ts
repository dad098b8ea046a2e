import { Client, escapeIdentifier } from 'pg';
import { applyMigrations, whileLocked } from './apply-migrations.ts';
import { grantAccess, protectBookkeeping } from './grant-access.ts';
import type { Migration } from '../../development/build/migration-files.ts';
import { provision, refusePowerfulAppRole, type Plan } from './provision.ts';
import type { Release } from './release.ts';

/**
 * Either a connection that may create databases and roles, or one to a database that exists, as its owner or as a role that
 * may become the owner.
 */
export type Access =
  | { readonly kind: 'admin'; readonly url: string; readonly plan: Plan }
  | { readonly kind: 'owner'; readonly url: string; readonly appRole: string };

/**
 * Brings one service's database to the state its migrations describe; returns what it applied. `release` is the version
 * whose migrations some of these replace.
 */
export async function migrateService(
  access: Access,
  migrations: readonly Migration[],
  release?: Release,
): Promise<string[]> {
  if (access.kind === 'owner')
    return migrateDatabase(access.url, undefined, access.appRole, migrations, release);
  const { url, plan } = access;
  await connected(url, (admin) => provision(admin, plan));
  return migrateDatabase(withDatabase(url, plan.database), plan.ownerRole, plan.appRole, migrations, release);
}

function migrateDatabase(
  url: string,
  ownerRole: string | undefined,
  appRole: string,
  migrations: readonly Migration[],
  release: Release | undefined,
): Promise<string[]> {
  return connected(url, async (client) => {
    await refusePowerfulAppRole(client, appRole);
    const role = ownerRole ?? (await ownerToBecome(client));
    if (role !== undefined) await client.query(`SET ROLE ${escapeIdentifier(role)}`);
    return whileLocked(client, async () => {
      await grantAccess(client, databaseOf(url), appRole);
      const applied = await applyMigrations(client, migrations, release);
      await protectBookkeeping(client, appRole);
      return applied;
    });
  });
}

/**
 * The owner of the database, where the connection is somebody else's who may become the owner, as an administrator's is who
 * restores a backup: the next migrations, which the owner applies, could not change what belongs to others. Tables that do
 * belong to somebody else already are left to whoever made them.
 */
async function ownerToBecome(client: Client): Promise<string | undefined> {
  const { rows } = await client.query<{ owner: string }>(
    `SELECT pg_get_userbyid(datdba) AS owner FROM pg_database
      WHERE datname = current_database() AND datdba <> current_user::regrole AND pg_has_role(datdba, 'MEMBER')
        AND NOT EXISTS (SELECT FROM pg_class WHERE oid = to_regclass('public._prisma_migrations') AND relowner <> datdba)`,
  );
  return rows[0]?.owner;
}

/** Connects, works, and leaves in every case. */
export async function connected<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: 10_000,
    // Nothing is sent while an index is built, and what lies between may forget a connection that is silent.
    keepAlive: true,
    keepAliveInitialDelayMillis: 30_000,
  });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** The same server and user, another database. */
export function withDatabase(url: string, database: string): string {
  const changed = new URL(url);
  changed.pathname = `/${encodeURIComponent(database)}`;
  return changed.href;
}

export function databaseOf(url: string): string {
  return decodeURIComponent(new URL(url).pathname.slice(1));
}
