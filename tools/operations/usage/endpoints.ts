import { pathToFileURL } from 'node:url';
import { databaseUrl, databaseVariable } from '../../development/launcher/environment.mjs';
import { layoutOf } from '../../development/launcher/paths.mjs';
import { readSecrets } from '../../development/launcher/secrets.mjs';
import { postgresUrl } from '../../development/launcher/servers/postgres.mjs';
import { discoverServices } from '../../development/launcher/services.mjs';
import { isRunning, readState } from '../../development/launcher/state.mjs';
import { databaseFromEnvironment } from '../migrate/access-from-environment.ts';
import { textOf } from '../migrate/text-of-variable.ts';

/** Where services store what they have. */
export interface Endpoints {
  /** A service's database as an administrator, who sees the rows of all tenants. */
  adminUrlOf(service: string): string;
  blobUrl(): string;
}

export const servicesWithDatabase = (): string[] =>
  discoverServices()
    .filter(({ hasDatabase }) => hasDatabase)
    .map(({ name }) => name);

/**
 * All from the environment where it names any of them, else all of the platform that `npm start` runs here: with the files of
 * one platform and the databases of another no file would have a row.
 */
export function resolveEndpoints(env: NodeJS.ProcessEnv): Endpoints {
  const variables = servicesWithDatabase().flatMap((service) => [
    databaseVariable(service),
    `MIGRATE_${databaseVariable(service)}`,
  ]);
  const named = ['BLOB_URL', 'MIGRATE_DATABASE_URL', ...variables].find((name) => textOf(name, env));
  return named === undefined ? endpointsOfThisPlatform() : endpointsOfEnvironment(env, named);
}

const endpointsOfEnvironment = (env: NodeJS.ProcessEnv, named: string): Endpoints => ({
  adminUrlOf: (service) => databaseFromEnvironment(service, env),
  blobUrl() {
    const url = textOf('BLOB_URL', env);
    if (url === undefined) throw new Error(`BLOB_URL is not set, but ${named} is: set all, or none of them.`);
    return url;
  },
});

function endpointsOfThisPlatform(): Endpoints {
  const layout = layoutOf();
  const postgres = () => {
    const state = readState(layout);
    const found = isRunning(state) ? state.processes.find(({ name }) => name === 'postgres') : undefined;
    if (!found) throw new Error('The address of postgres is unknown: set the variables, or run npm start.');
    return found;
  };
  return {
    adminUrlOf(service) {
      const secrets = readSecrets(layout);
      const url = new URL(postgresUrl(postgres().port, secrets.postgresPassword));
      url.pathname = new URL(databaseUrl(service, url.href, secrets)).pathname;
      return url.href;
    },
    blobUrl: () => pathToFileURL(layout.blobs).href,
  };
}
