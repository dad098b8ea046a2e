import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../launcher/paths.mjs';
import { run } from '../launcher/run.mjs';
import { discoverServices, type Service } from '../launcher/services.mjs';
import { isNewer } from './is-newer.ts';

/** The services whose typed client is older than their schema. */
export function servicesToGenerate(): Service[] {
  return servicesWithSchema().filter((service) => !isNewer(markerOf(service), [schemaOf(service)]));
}

export const servicesWithSchema = (): Service[] =>
  discoverServices().filter(({ hasDatabase }) => hasDatabase);

const schemaOf = ({ directory }: Service) => join(directory, 'prisma', 'schema.prisma');

/** Written last: a client without it is not complete. */
const markerOf = ({ directory }: Service) => join(directory, 'src', 'generated', '.complete');

/** Makes the typed client of a service from its schema. */
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
  writeFileSync(markerOf(service), '');
}
