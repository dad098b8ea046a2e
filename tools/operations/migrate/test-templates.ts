import { createHash } from 'node:crypto';
import { escapeIdentifier, type Client } from 'pg';
import { discoverServices, identifierOf } from '../../development/launcher/services.mjs';
import { connected, migrateService, withDatabase } from './migrate-service.ts';
import { readMigrations, type Migration } from '../../development/build/migration-files.ts';

/** Part of every template's name: raise it when what the runner does beside the migrations changes. */
const runnerVersion = 1;
const advisoryLock = 72_707_371;
const leftoverAfterSeconds = 30 * 60;
const appPassword = 'plinth-test';

export type TestTemplate = { readonly template: string; readonly ownerRole: string; readonly appUrl: string };

/**
 * One migrated database per service, from which each test clones its own. Prints a TestTemplate by service as
 * JSON. A template is named after its migrations, so a change of them makes a new one.
 */
async function main() {
  const adminUrl = process.env.MIGRATE_DATABASE_URL;
  if (adminUrl === undefined) throw new Error('MIGRATE_DATABASE_URL is not set');
  const services = discoverServices().filter(({ hasDatabase }) => hasDatabase);
  const templates = await connected(adminUrl, async (admin) => {
    await admin.query('SELECT pg_advisory_lock($1)', [advisoryLock]);
    const made: Record<string, TestTemplate> = {};
    for (const { name, directory } of services) {
      made[name] = await ensureTemplate(admin, adminUrl, name, readMigrations(directory));
    }
    await dropLeftovers(admin);
    return made;
  });
  console.log(JSON.stringify(templates));
}

async function ensureTemplate(admin: Client, adminUrl: string, service: string, migrations: Migration[]) {
  const name = identifierOf(service);
  const template = `template_${name}_${hashOf(migrations)}`;
  const ownerRole = `plinth_${name}_owner`;
  const appRole = `plinth_${name}_app`;
  if (!(await databaseNames(admin)).includes(template)) {
    const draft = `draft_${name}`;
    await admin.query(`DROP DATABASE IF EXISTS ${escapeIdentifier(draft)} WITH (FORCE)`);
    const plan = { database: draft, ownerRole, appRole, appPassword };
    await migrateService({ kind: 'admin', url: adminUrl, plan }, migrations).catch((error: Error) => {
      throw new Error(`${service}: ${error.message}`);
    });
    await admin.query(`ALTER DATABASE ${escapeIdentifier(draft)} RENAME TO ${escapeIdentifier(template)}`);
    // A database with a session cannot be cloned.
    await admin.query(`ALTER DATABASE ${escapeIdentifier(template)} WITH ALLOW_CONNECTIONS false`);
  }
  const appUrl = new URL(withDatabase(adminUrl, template));
  appUrl.username = appRole;
  appUrl.password = appPassword;
  return { template, ownerRole, appUrl: appUrl.href };
}

function hashOf(migrations: Migration[]) {
  const content = migrations.map(({ name, checksum }) => `${name} ${checksum}`);
  return createHash('sha256')
    .update([runnerVersion, ...content].join('\n'))
    .digest('hex')
    .slice(0, 12);
}

/** Databases of test runs that were killed. Their names end in the second of their birth. */
async function dropLeftovers(admin: Client) {
  const now = Math.floor(Date.now() / 1000);
  for (const name of await databaseNames(admin)) {
    const bornAt = Number(/^test_.*_(\d{10})_[0-9a-f]+$/.exec(name)?.[1] ?? Infinity);
    if (now - bornAt > leftoverAfterSeconds) {
      await admin.query(`DROP DATABASE IF EXISTS ${escapeIdentifier(name)}`).catch(ignoreStillInUse);
    }
  }
}

function ignoreStillInUse() {}

async function databaseNames(admin: Client): Promise<string[]> {
  const { rows } = await admin.query<{ datname: string }>('SELECT datname FROM pg_database');
  return rows.map(({ datname }) => datname);
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
