import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { DatabaseError, escapeIdentifier, type Client } from 'pg';
import { concurrentIndexOf, runsWithoutTransaction } from './index-statements.ts';
import { MigrationError } from './migration-error.ts';
import type { Migration } from '../../development/build/migration-files.ts';
import { adoptRelease, type AppliedMigration, type Release } from './release.ts';

/** The lock Prisma's own migrate takes: the two never run at the same time. */
const advisoryLock = 72_707_369;
const lockTimeout = '5s';
const lockAttempts = 5;
const lockNotAvailable = '55P03';

const lockPauseMilliseconds = 200;
/** After this many, ten seconds, whoever waits says so. */
const lockAttemptsInSilence = 50;

/**
 * Works on a database while no other process migrates it: of two that grant the same right at once, one fails. Who waits
 * asks again and again: a statement that waited would be older than an index that is built concurrently meanwhile, which
 * waits for all that are older, and so for each other.
 */
export async function whileLocked<T>(client: Client, work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; !(await tryLock(client)); attempt += 1) {
    if (attempt === lockAttemptsInSilence)
      console.log(`${client.database}: another process migrates this database, waiting until it has ended`);
    await pause(lockPauseMilliseconds);
  }
  try {
    return await work();
  } finally {
    await client.query('SELECT pg_advisory_unlock($1)', [advisoryLock]);
  }
}

async function tryLock(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ isLocked: boolean }>(
    'SELECT pg_try_advisory_lock($1) AS "isLocked"',
    [advisoryLock],
  );
  return rows[0]!.isLocked;
}

/** Applies what is pending and returns its names. The role of the connection owns what the migrations create. */
export async function applyMigrations(
  client: Client,
  migrations: readonly Migration[],
  release: Release | undefined,
): Promise<string[]> {
  await client.query(`SET lock_timeout = '${lockTimeout}'`);
  await createBookkeeping(client);
  await settleUnfinishedIndexes(client, migrations);
  let applied = await readApplied(client);
  if (release && (await adoptRelease(client, release, migrations, applied)))
    applied = await readApplied(client);
  refuseWhatChanged(migrations, applied);
  const pending = migrations.filter(({ name }) => !applied.has(name));
  for (const migration of pending) await applyWhenUnlocked(client, migration);
  return pending.map(({ name }) => name);
}

async function createBookkeeping(client: Client) {
  await client.query(`
    CREATE TABLE IF NOT EXISTS _prisma_migrations (
      id                  VARCHAR(36) PRIMARY KEY NOT NULL,
      checksum            VARCHAR(64) NOT NULL,
      finished_at         TIMESTAMPTZ,
      migration_name      VARCHAR(255) NOT NULL,
      logs                TEXT,
      rolled_back_at      TIMESTAMPTZ,
      started_at          TIMESTAMPTZ NOT NULL DEFAULT now(),
      applied_steps_count INTEGER NOT NULL DEFAULT 0
    )`);
}

async function readApplied(client: Client): Promise<Map<string, AppliedMigration>> {
  const { rows } = await client.query<AppliedMigration>(
    'SELECT migration_name, checksum, finished_at FROM _prisma_migrations WHERE rolled_back_at IS NULL',
  );
  return new Map(rows.map((row) => [row.migration_name, row]));
}

/**
 * An index that was being built concurrently when its process or the server ended is there, is read by nobody, and is
 * written by everybody. It is dropped, and its migration is pending again; one that was complete has been applied.
 */
async function settleUnfinishedIndexes(client: Client, migrations: readonly Migration[]) {
  for (const { migration_name: name, checksum, finished_at } of (await readApplied(client)).values()) {
    if (finished_at !== null) continue;
    // A file that was changed may name another index.
    const migration = migrations.find((one) => one.name === name && one.checksum === checksum);
    const index = migration && concurrentIndexOf(migration.sql);
    if (index === undefined) continue;
    if (await isComplete(client, index)) {
      await client.query(
        'UPDATE _prisma_migrations SET finished_at = clock_timestamp(), applied_steps_count = 1 WHERE migration_name = $1',
        [name],
      );
      continue;
    }
    await withoutLockTimeout(client, () =>
      client.query(`DROP INDEX CONCURRENTLY IF EXISTS ${escapeIdentifier(index)}`),
    );
    await client.query('DELETE FROM _prisma_migrations WHERE migration_name = $1', [name]);
  }
}

async function isComplete(client: Client, index: string): Promise<boolean> {
  const { rowCount } = await client.query(
    'SELECT FROM pg_index WHERE indexrelid = to_regclass($1) AND indisvalid',
    [escapeIdentifier(index)],
  );
  return rowCount !== 0;
}

/** Building concurrently waits for transactions and keeps nobody waiting, so it may wait for as long as they take. */
async function withoutLockTimeout<T>(client: Client, work: () => Promise<T>): Promise<T> {
  await client.query('SET lock_timeout = 0');
  try {
    return await work();
  } finally {
    await client.query(`SET lock_timeout = '${lockTimeout}'`);
  }
}

function refuseWhatChanged(migrations: readonly Migration[], applied: ReadonlyMap<string, AppliedMigration>) {
  for (const { name, checksum } of migrations) {
    const row = applied.get(name);
    if (row === undefined) continue;
    if (row.finished_at === null) {
      throw new MigrationError(
        `migration ${name} began and did not finish: repair its tables by hand, then delete its row from _prisma_migrations (or set finished_at if it is complete)`,
      );
    }
    if (row.checksum !== checksum) {
      throw new MigrationError(
        `migration ${name} was changed after it had been applied: put it back and write a new migration`,
      );
    }
  }
}

/** A busy table is not waited for, because all other requests would queue behind the lock: try again a little later. */
async function applyWhenUnlocked(client: Client, migration: Migration) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await apply(client, migration);
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
      if (error.code !== lockNotAvailable || attempt === lockAttempts) {
        throw new MigrationError(
          `migration ${migration.name} failed${lineOf(error, migration.sql)}: ${error.message}`,
        );
      }
      await pause(attempt * 1000);
    }
  }
}

async function apply(client: Client, migration: Migration) {
  const id = randomUUID();
  const inTransaction = !runsWithoutTransaction(migration.sql);
  if (inTransaction) await client.query('BEGIN');
  try {
    await client.query('INSERT INTO _prisma_migrations (id, checksum, migration_name) VALUES ($1, $2, $3)', [
      id,
      migration.checksum,
      migration.name,
    ]);
    if (inTransaction) await client.query(migration.sql);
    else await withoutLockTimeout(client, () => client.query(migration.sql));
    await client.query(
      'UPDATE _prisma_migrations SET finished_at = clock_timestamp(), applied_steps_count = 1 WHERE id = $1',
      [id],
    );
    if (inTransaction) await client.query('COMMIT');
  } catch (error) {
    if (inTransaction) await client.query('ROLLBACK');
    else await recordFailure(client, id, String(error));
    throw error;
  }
}

async function recordFailure(client: Client, id: string, logs: string) {
  await client.query('UPDATE _prisma_migrations SET logs = $2 WHERE id = $1', [id, logs]);
}

function lineOf(error: DatabaseError, sql: string) {
  const position = Number(error.position);
  if (!Number.isInteger(position)) return '';
  return ` at line ${sql.slice(0, position).split('\n').length}`;
}
