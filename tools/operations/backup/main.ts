import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { devNull } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from '../../development/launcher/paths.mjs';
import { discoverServices } from '../../development/launcher/services.mjs';
import { accessFromEnvironment, databaseFromEnvironment } from '../migrate/access-from-environment.ts';
import { MigrationError } from '../migrate/migration-error.ts';
import { textOf } from '../migrate/text-of-variable.ts';
import { copyFiles } from './copy-files.ts';
import { dumpTogether, type Database } from './dump-together.ts';
import { dumpOf, lastDumps, replaceDumps } from './dumps.ts';
import { recheckEvents } from './recheck-events.ts';
import { empty, hasTables, refuseInUse } from './replaced-database.ts';
import { revokeCredentials } from './revoke-credentials.ts';

const REPLACE = '--replace';
const KEEP_CREDENTIALS = '--keep-credentials';
const RESTORE_OPTIONS = [REPLACE, KEEP_CREDENTIALS];

const USAGE = `npm run backup -- save FOLDER
    copy the files, dump every database, copy what is new of the files
npm run backup -- restore FOLDER [${REPLACE}] [${KEEP_CREDENTIALS}]
    into databases without tables, or instead of all that is in them; no service may run. Revokes every API key and removes
    every delegation, which may have been withdrawn since the backup: keep them for a drill only
npm run backup -- recheck
    after another kind of restore: have the services ask which events they miss
npm run backup -- revoke-credentials
    after another kind of restore: revoke every API key and remove every delegation; no service may run`;

/** `npm run backup`: with PostgreSQL's client programs, and the variables of `npm run migrate`. */
async function main([what, folder, ...options]: readonly string[]): Promise<void> {
  if (what === 'recheck' && folder === undefined) return recheck();
  if (what === 'revoke-credentials' && folder === undefined) return revokeIn(databases());
  if (what === 'save' && folder !== undefined && options.length === 0) return save(folder);
  if (
    what === 'restore' &&
    folder !== undefined &&
    options.every((option) => RESTORE_OPTIONS.includes(option))
  )
    return restore(folder, options.includes(REPLACE), options.includes(KEEP_CREDENTIALS));
  console.error(USAGE);
  process.exitCode = 2;
}

/**
 * A file without a row does no harm, a row without a file is a download that is 410. So files are copied after the rows
 * that name them, but also before, since some are removed meanwhile.
 */
async function save(folder: string): Promise<void> {
  await copyAll(filesFolder(), join(folder, 'files'));
  await replaceDumps(folder, (dumps) =>
    dumpTogether(databases(), ({ service, url }, snapshot) => {
      const options = ['--format=custom', `--snapshot=${snapshot}`, `--file=${dumpOf(dumps, service)}`];
      runOn(url, 'pg_dump', options);
      console.log(`${service}: saved`);
    }),
  );
  await copyAll(filesFolder(), join(folder, 'files'));
}

/**
 * Creates roles and databases where there are none, replaces their content, and migrates an older backup to the tables
 * of this version. Between the snapshots of the databases were moments, so the events of those are asked for again.
 */
async function restore(folder: string, replaces: boolean, keepsCredentials: boolean): Promise<void> {
  const dumps = existsSync(folder) ? lastDumps(folder) : undefined;
  if (!dumps) throw new MigrationError(`${folder} has no dumps that are complete.`);
  console.log(`Restoring ${basename(dumps.directory)}.`);
  const pathOf = (service: string): string => dumpOf(dumps.directory, service);
  // Reads each to its end before anything is replaced.
  for (const service of dumps.services) run('pg_restore', [`--file=${devNull}`, pathOf(service)]);
  migrate('--provision');
  const restored = databases().filter(({ service }) => dumps.services.includes(service));
  await requireReplaceable(restored, replaces);

  await copyAll(join(folder, 'files'), filesFolder());
  for (const { service, url } of restored) {
    await empty(url);
    runOn(url, 'pg_restore', ['--single-transaction', '--exit-on-error', pathOf(service)]);
    console.log(`${service}: restored`);
  }
  for (const { service } of databases())
    if (!dumps.services.includes(service)) console.log(`${service}: not in this backup, stays as it is`);
  migrate();
  if (!keepsCredentials) await revokeIn(restored);
  await recheck();
  console.log('Before the services start: empty Redis and the stream of events (docs/operations/backup.md).');
}

async function requireReplaceable(restored: readonly Database[], replaces: boolean): Promise<void> {
  for (const { service, url, appRole } of databases()) await refuseInUse(service, url, appRole);
  if (replaces) return;
  const full: string[] = [];
  for (const { service, url } of restored) if (await hasTables(url)) full.push(service);
  if (full.length > 0) {
    throw new MigrationError(
      `The databases of ${full.join(', ')} have tables: with ${REPLACE} all that is in them is lost. Nothing was restored.`,
    );
  }
}

async function revokeIn(restored: readonly Database[]): Promise<void> {
  for (const { service, url } of restored)
    for (const line of await revokeCredentials(service, url)) console.log(line);
}

async function recheck(): Promise<void> {
  for (const { service, url } of databases()) {
    await recheckEvents(url);
    console.log(`${service}: asks which events it misses`);
  }
}

const databases = (): (Database & { appRole: string })[] =>
  discoverServices()
    .filter(({ hasDatabase }) => hasDatabase)
    .map(({ name }) => {
      const access = accessFromEnvironment(name, process.env);
      const { appRole } = access.kind === 'owner' ? access : access.plan;
      return { service: name, url: databaseFromEnvironment(name, process.env), appRole };
    });

/** The blob store, where it is a folder; S3 is copied with the tools of its provider. */
function filesFolder(): string | undefined {
  const url = textOf('BLOB_URL', process.env);
  return url?.startsWith('file:') ? fileURLToPath(url) : undefined;
}

async function copyAll(from: string | undefined, to: string | undefined): Promise<void> {
  if (from === undefined || to === undefined) {
    console.log('files: not in a folder; copy the bucket (docs/operations/backup.md)');
    return;
  }
  console.log(`files: ${await copyFiles(from, to)} copied`);
}

function migrate(...options: string[]): void {
  run(process.execPath, [join(root, 'tools/operations/migrate/migrate.ts'), ...options]);
}

/** Everybody on the machine can read the arguments of a program, so the password is not one of them. */
function runOn(databaseUrl: string, program: string, args: readonly string[]): void {
  const url = new URL(databaseUrl);
  const PGPASSWORD = decodeURIComponent(url.password);
  url.password = '';
  run(program, [`--dbname=${url}`, ...args], PGPASSWORD === '' ? {} : { PGPASSWORD });
}

/** Its output is printed as it comes. */
function run(program: string, args: readonly string[], environment: NodeJS.ProcessEnv = {}): void {
  try {
    const env = { ...process.env, ...environment };
    execFileSync(program, args, { stdio: ['ignore', 'inherit', 'inherit'], env });
  } catch (error) {
    const { code, status } = error as { code?: string; status?: number };
    throw new MigrationError(
      code === 'ENOENT'
        ? `${program} is not on the PATH; install the client programs of your version of PostgreSQL.`
        : `${program} ended with ${status}.`,
    );
  }
}

main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error instanceof MigrationError ? error.message : error);
  process.exitCode = 1;
});
