import { join } from 'node:path';
import { withLock } from '../launcher/lock.mjs';
import { root } from '../launcher/paths.mjs';
import { generatePrismaClient, servicesToGenerate, servicesWithSchema } from './generate-prisma.ts';
import { generateProto, isProtoOutdated } from './generate-proto.ts';

/**
 * The code that is made from schemas and .proto files: of the projects named (Nx names those that changed), or of all
 * where it is out of date.
 */
async function main() {
  const projects = process.argv.slice(2);
  const isNamed = (name: string) => projects.includes(name);
  const made = await withLock(join(root, '.plinth', 'generate.lock'), async () => {
    const services =
      projects.length > 0 ? servicesWithSchema().filter(({ name }) => isNamed(name)) : servicesToGenerate();
    const proto = projects.length > 0 ? isNamed('proto') : isProtoOutdated();
    await Promise.all([...services.map(generatePrismaClient), ...(proto ? [generateProto()] : [])]);
    return [...services.map(({ name }) => `database client of ${name}`), ...(proto ? ['gRPC types'] : [])];
  });
  console.log(made.length === 0 ? 'generated code is up to date' : `generated: ${made.join(', ')}`);
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
