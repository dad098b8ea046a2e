import type { readConfig } from '@plinth/runtime/process/config';
import { loadModule } from '../../development/build/load-module.ts';
import { discoverServices } from '../../development/launcher/services.mjs';
import { accessFromEnvironment } from '../../operations/migrate/access-from-environment.ts';
import { configSchemaOf } from './read-processes.ts';

interface RuntimeConfig {
  readConfig: typeof readConfig;
}

/**
 * `node tools/release/configuration/errors.ts`: reads pairs of the name of an image (a service or `migrate`) and the
 * environment of a container of it, as JSON, and prints for each what the programs in it say is wrong.
 */
async function main() {
  const containers: [string, NodeJS.ProcessEnv][] = JSON.parse(await textOfInput());
  const { readConfig } = await loadModule<RuntimeConfig>('libs/runtime/src/process/config.ts');
  const services = [...new Set(containers.map(([image]) => image))].filter((image) => image !== MIGRATE);
  const schemas = new Map(
    await Promise.all(services.map(async (service) => [service, await configSchemaOf(service)] as const)),
  );
  const errors = containers.map(([image, environment]) =>
    image === MIGRATE ? errorsOfMigrations(environment) : readConfig(schemas.get(image)!, environment).errors,
  );
  console.log(JSON.stringify(errors));
}

const MIGRATE = 'migrate';

const errorsOfMigrations = (environment: NodeJS.ProcessEnv): string[] =>
  discoverServices()
    .filter(({ hasDatabase }) => hasDatabase)
    .flatMap(({ name }) => {
      try {
        accessFromEnvironment(name, environment);
        return [];
      } catch (error) {
        return [(error as Error).message];
      }
    });

async function textOfInput(): Promise<string> {
  let text = '';
  for await (const chunk of process.stdin) text += chunk;
  return text;
}

await main();
