import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from '../../development/launcher/paths.mjs';
import { discoverServices } from '../../development/launcher/services.mjs';
import { accessFromEnvironment } from '../migrate/access-from-environment.ts';
import { MigrationError } from '../migrate/migration-error.ts';

const USAGE = `npm run backup -- save FOLDER       dump every database, then copy the files
npm run backup -- restore FOLDER    into databases that are not in use`;

/** A service's database, with a role that may do everything in it. */
interface Database {
  service: string;
  url: string;
}

/** `npm run backup`: with PostgreSQL's client programs, and the variables of `npm run migrate`. */
function main([what, folder]: readonly string[]): void {
  const act = { save, restore }[what ?? ''];
  if (!act || folder === undefined) {
    console.error(USAGE);
    process.exitCode = 2;
    return;
  }
  act(folder);
}

/** Databases first: a file without a row does no harm, a row without a file is a download that is 410. */
function save(folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const { service, url } of databases()) {
    run('pg_dump', ['--format=custom', `--file=${dumpOf(folder, service)}`, `--dbname=${url}`]);
    console.log(`${service}: saved`);
  }
  copyFiles(filesFolder(), join(folder, 'files'));
}

/**
 * Creates roles and databases where there are none, replaces their content, and migrates an older backup to the tables
 * of this version.
 */
function restore(folder: string): void {
  migrate('--provision');
  copyFiles(join(folder, 'files'), filesFolder());
  for (const { service, url } of databases()) {
    const options = ['--clean', '--if-exists', '--single-transaction', '--exit-on-error'];
    run('pg_restore', [...options, `--dbname=${url}`, dumpOf(folder, service)]);
    console.log(`${service}: restored`);
  }
  migrate();
}

const databases = (): Database[] =>
  discoverServices()
    .filter(({ hasDatabase }) => hasDatabase)
    .map(({ name }) => {
      const access = accessFromEnvironment(name, process.env);
      if (access.kind === 'owner') return { service: name, url: access.url };
      const url = new URL(access.url);
      url.pathname = `/${access.plan.database}`;
      return { service: name, url: url.href };
    });

const dumpOf = (folder: string, service: string): string => join(folder, `${service}.dump`);

/** The blob store, where it is a folder; S3 is copied with the tools of its provider. */
function filesFolder(): string | undefined {
  const url = process.env['BLOB_URL'];
  return url?.startsWith('file:') ? fileURLToPath(url) : undefined;
}

function copyFiles(from: string | undefined, to: string | undefined): void {
  if (from === undefined || to === undefined) {
    console.log('files: not in a folder; copy the bucket (docs/operations/backup.md)');
    return;
  }
  if (existsSync(from)) cpSync(from, to, { recursive: true });
  console.log('files: copied');
}

function migrate(...options: string[]): void {
  run(process.execPath, [join(root, 'tools/operations/migrate/migrate.ts'), ...options]);
}

/** Its output is printed as it comes; its arguments are not, since they contain a password. */
function run(program: string, args: readonly string[]): void {
  try {
    execFileSync(program, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  } catch (error) {
    const { code, status } = error as { code?: string; status?: number };
    throw new MigrationError(
      code === 'ENOENT'
        ? `${program} is not on the PATH; install the client programs of your version of PostgreSQL.`
        : `${program} ended with ${status}.`,
    );
  }
}

try {
  main(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof MigrationError ? error.message : error);
  process.exitCode = 1;
}
