import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from '../../development/launcher/paths.mjs';
import { discoverServices } from '../../development/launcher/services.mjs';
import { databaseFromEnvironment } from '../migrate/access-from-environment.ts';
import { MigrationError } from '../migrate/migration-error.ts';
import { textOf } from '../migrate/text-of-variable.ts';
import { copyFiles } from './copy-files.ts';
import { dumpTogether, type Database } from './dump-together.ts';
import { recheckEvents } from './recheck-events.ts';

const USAGE = `npm run backup -- save FOLDER       copy the files, dump every database, copy what is new of the files
npm run backup -- restore FOLDER    into databases that are not in use`;

/** `npm run backup`: with PostgreSQL's client programs, and the variables of `npm run migrate`. */
async function main([what, folder]: readonly string[]): Promise<void> {
  const act = { save, restore }[what ?? ''];
  if (!act || folder === undefined) {
    console.error(USAGE);
    process.exitCode = 2;
    return;
  }
  await act(folder);
}

/**
 * A file without a row does no harm, a row without a file is a download that is 410. So files are copied after the rows
 * that name them, but also before, since some are removed meanwhile.
 */
async function save(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  await copyAll(filesFolder(), join(folder, 'files'));
  await dumpTogether(databases(), ({ service, url }, snapshot) => {
    const options = ['--format=custom', `--snapshot=${snapshot}`, `--file=${dumpOf(folder, service)}`];
    runOn(url, 'pg_dump', options);
    console.log(`${service}: saved`);
  });
  await copyAll(filesFolder(), join(folder, 'files'));
}

/**
 * Creates roles and databases where there are none, replaces their content, and migrates an older backup to the tables
 * of this version. Between the snapshots of the databases were moments, so the events of those are asked for again.
 */
async function restore(folder: string): Promise<void> {
  migrate('--provision');
  await copyAll(join(folder, 'files'), filesFolder());
  for (const { service, url } of databases()) {
    const options = ['--clean', '--if-exists', '--single-transaction', '--exit-on-error'];
    runOn(url, 'pg_restore', [...options, dumpOf(folder, service)]);
    console.log(`${service}: restored`);
  }
  migrate();
  for (const { url } of databases()) await recheckEvents(url);
  console.log('Before the services start: empty Redis and the stream of events (docs/operations/backup.md).');
}

const databases = (): Database[] =>
  discoverServices()
    .filter(({ hasDatabase }) => hasDatabase)
    .map(({ name }) => ({ service: name, url: databaseFromEnvironment(name, process.env) }));

const dumpOf = (folder: string, service: string): string => join(folder, `${service}.dump`);

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
