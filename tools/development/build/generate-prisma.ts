import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { migrationFoldersOf, readMigrations } from './migration-files.ts';
import { root } from '../launcher/paths.mjs';
import { run } from '../launcher/run.mjs';
import { discoverServices, type Service } from '../launcher/services.mjs';
import { isNewer } from './is-newer.ts';

/** The services whose typed client is older than their schema, or than one of their migrations. */
export function servicesToGenerate(): Service[] {
  return servicesWithSchema().filter(
    (service) =>
      !isNewer(migrationsOf(service), [
        join(service.directory, 'prisma'),
        ...migrationFoldersOf(service.directory),
      ]),
  );
}

export const servicesWithSchema = (): Service[] =>
  discoverServices().filter(({ hasDatabase }) => hasDatabase);

const schemaOf = ({ directory }: Service) => join(directory, 'prisma', 'schema.prisma');

/** The names of its migrations. Written last: a client without it is not complete. */
const migrationsOf = ({ directory }: Service) => join(directory, 'src', 'generated', 'migrations.ts');

/** Makes the typed client of a service from its schema, and beside it the names of its migrations. */
export async function generatePrismaClient(service: Service): Promise<void> {
  const { name, directory } = service;
  const cli = join(root, 'node_modules', 'prisma', 'build', 'index.js');
  await run(process.execPath, [cli, 'generate', '--schema', schemaOf(service), '--no-hints'], {
    name: `prisma generate (${name})`,
    cwd: directory,
    env: {
      ...process.env,
      // The CLI fetches this native program at every command, and `generate` never calls it: any program will do.
      PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
      PRISMA_HIDE_UPDATE_MESSAGE: '1',
      CHECKPOINT_DISABLE: '1',
    },
  });
  writeFileSync(migrationsOf(service), migrationsModule(service));
}

/** By them a process knows whether its database is that of its version. */
function migrationsModule({ directory }: Service): string {
  const names = readMigrations(directory).map(({ name }) => `  '${name}',\n`);
  return `export const migrations: readonly string[] = [\n${names.join('')}];\n`;
}
