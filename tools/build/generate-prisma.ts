import { join } from 'node:path';
import { root } from '../launcher/paths.mjs';
import { run } from '../launcher/run.mjs';
import { discoverServices, type Service } from '../launcher/services.mjs';
import { fingerprint, isMadeFrom, stampFolder } from './stamp.ts';

/** Makes the typed client of every service with a schema; answers the names of those that were out of date. */
export async function generatePrismaClients(): Promise<string[]> {
  const services = discoverServices().filter(({ hasDatabase }) => hasDatabase);
  const made = await Promise.all(services.map(generateOne));
  return made.filter((name) => name !== undefined);
}

async function generateOne({ name, directory }: Service): Promise<string | undefined> {
  const schema = join(directory, 'prisma', 'schema.prisma');
  const folder = join(directory, 'src', 'generated');
  const print = fingerprint([schema], ['prisma', '@prisma/client']);
  if (isMadeFrom(folder, print)) return undefined;
  const cli = join(root, 'node_modules', 'prisma', 'build', 'index.js');
  await run(process.execPath, [cli, 'generate', '--schema', schema, '--no-hints'], {
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
  stampFolder(folder, print);
  return name;
}
