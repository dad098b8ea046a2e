import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from 'pg';
import { root } from '../../development/launcher/paths.mjs';
import { MigrationError } from './migration-error.ts';
import type { Migration } from '../../development/build/migration-files.ts';

/** A released version whose migrations were replaced by others. */
export type Release = {
  readonly version: string;
  /** The checksum of each of its migrations. */
  readonly history: Readonly<Record<string, string>>;
};

/** A row of the bookkeeping. */
export type AppliedMigration = {
  readonly migration_name: string;
  readonly checksum: string;
  readonly finished_at: Date | null;
};

/** What the release had of a service; undefined for a service that came later. */
export function releaseOf(service: string): Release | undefined {
  const { version, services } = JSON.parse(
    readFileSync(join(root, 'tools/operations/migrate/released-0.1.0.json'), 'utf8'),
  );
  const history = services[service];
  return history && { version, history };
}

/**
 * Records the migrations that replace those of a release as applied to a database that the release made, without
 * running them. They begin with `-- plinth: replaces <version>`. A database without the release is left as it is.
 * @returns whether anything was recorded
 */
export async function adoptRelease(
  client: Client,
  { version, history }: Release,
  migrations: readonly Migration[],
  applied: ReadonlyMap<string, AppliedMigration>,
): Promise<boolean> {
  const names = Object.keys(history);
  const replacements = migrations.filter(({ sql }) => sql.startsWith(`-- plinth: replaces ${version}\n`));
  if (!names.some((name) => applied.has(name))) return false;
  if (replacements.length === 0 || replacements.some(({ name }) => applied.has(name))) return false;
  const isApplied = (name: string): boolean => {
    const row = applied.get(name);
    return row !== undefined && row.finished_at !== null && row.checksum === history[name];
  };
  const missing = names.find((name) => !isApplied(name));
  if (missing !== undefined) {
    throw new MigrationError(
      `this database has a part of the migrations of version ${version}, and not ${missing} as it was released: upgrade it to ${version} first`,
    );
  }
  await client.query(
    `INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at, applied_steps_count)
     SELECT id, checksum, name, clock_timestamp(), 0
     FROM unnest($1::text[], $2::text[], $3::text[]) AS replacement (id, checksum, name)`,
    [
      replacements.map(() => randomUUID()),
      replacements.map(({ checksum }) => checksum),
      replacements.map(({ name }) => name),
    ],
  );
  return true;
}
