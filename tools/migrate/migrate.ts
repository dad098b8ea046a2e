import { discoverServices } from '../launcher/services.mjs';
import { accessFromEnvironment } from './access-from-environment.ts';
import { MigrationError } from './migration-error.ts';
import { migrateService } from './migrate-service.ts';
import { readMigrations } from './migration-files.ts';

/** `npm run migrate -- [service…]`: all services with a database, or the named ones. */
async function main(names: readonly string[]) {
  const services = discoverServices().filter(({ hasDatabase }) => hasDatabase);
  const unknown = names.filter((name) => !services.some((service) => service.name === name));
  if (unknown.length > 0)
    throw new MigrationError(`no service with a database is called ${unknown.join(', ')}`);
  const chosen = services.filter(({ name }) => names.length === 0 || names.includes(name));
  const results = await Promise.all(chosen.map(({ name, directory }) => migrateOne(name, directory)));
  if (results.includes('failed')) process.exitCode = 1;
}

async function migrateOne(name: string, directory: string): Promise<'done' | 'failed'> {
  try {
    const applied = await migrateService(accessFromEnvironment(name, process.env), readMigrations(directory));
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
