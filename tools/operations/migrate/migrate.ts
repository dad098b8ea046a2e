import { discoverServices } from '../../development/launcher/services.mjs';
import { accessFromEnvironment } from './access-from-environment.ts';
import { MigrationError } from './migration-error.ts';
import { migrateService } from './migrate-service.ts';
import { readMigrations, type Migration } from '../../development/build/migration-files.ts';
import { releaseOf } from './release.ts';

const PROVISION = '--provision';

/**
 * `npm run migrate -- [service…]`: all services with a database, or the named ones. With `--provision` it makes roles and
 * databases only, for a backup to be restored into.
 */
async function main(words: readonly string[]) {
  const names = words.filter((word) => word !== PROVISION);
  const provisionsOnly = words.includes(PROVISION);
  const services = discoverServices().filter(({ hasDatabase }) => hasDatabase);
  const unknown = names.filter((name) => !services.some((service) => service.name === name));
  if (unknown.length > 0)
    throw new MigrationError(`no service with a database is called ${unknown.join(', ')}`);
  const chosen = services.filter(({ name }) => names.length === 0 || names.includes(name));
  const results = await Promise.all(
    chosen.map(({ name, directory }) => migrateOne(name, provisionsOnly ? [] : readMigrations(directory))),
  );
  if (results.includes('failed')) process.exitCode = 1;
}

async function migrateOne(name: string, migrations: readonly Migration[]): Promise<'done' | 'failed'> {
  try {
    const access = accessFromEnvironment(name, process.env);
    const applied = await migrateService(access, migrations, releaseOf(name));
    console.log(`${name}: ${applied.length === 0 ? 'up to date' : `applied ${applied.join(', ')}`}`);
    return 'done';
  } catch (error) {
    console.error(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    return 'failed';
  }
}

main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error instanceof MigrationError ? error.message : error);
  process.exitCode = 1;
});
