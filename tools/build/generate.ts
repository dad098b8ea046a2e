import { join } from 'node:path';
import { withLock } from '../launcher/lock.mjs';
import { root } from '../launcher/paths.mjs';
import { generatePrismaClients } from './generate-prisma.ts';
import { generateProto } from './generate-proto.ts';

/** `npm run generate`: the code that is made from schemas and .proto files, where it is out of date. */
async function main() {
  const [clients, proto] = await withLock(join(root, '.plinth', 'generate.lock'), () =>
    Promise.all([generatePrismaClients(), generateProto()]),
  );
  const made = [...clients.map((name) => `database client of ${name}`), ...(proto ? ['gRPC types'] : [])];
  console.log(made.length === 0 ? 'generated code is up to date' : `generated: ${made.join(', ')}`);
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
