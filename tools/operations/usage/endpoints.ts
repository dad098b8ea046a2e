import { pathToFileURL } from 'node:url';
import { databaseUrl, databaseVariable } from '../../development/launcher/environment.mjs';
import { layoutOf } from '../../development/launcher/paths.mjs';
import { readSecrets } from '../../development/launcher/secrets.mjs';
import { postgresUrl } from '../../development/launcher/servers/postgres.mjs';
import { discoverServices } from '../../development/launcher/services.mjs';
import { isRunning, readState } from '../../development/launcher/state.mjs';
import { textOf } from '../migrate/text-of-variable.ts';

/** Where services store what they have. */
export interface Endpoints {
  /** A service's database as an administrator, who sees the rows of all tenants. */
  adminUrlOf(service: string): string;
  blobUrl: string;
}

export const servicesWithDatabase = (): string[] =>
  discoverServices()
    .filter(({ hasDatabase }) => hasDatabase)
    .map(({ name }) => name);

/** From the environment; what it does not contain is taken from the platform that `npm start` runs here. */
export function resolveEndpoints(env: NodeJS.ProcessEnv): Endpoints {
  const layout = layoutOf();
  const portOf = (server: string): number => {
    const state = readState(layout);
    const found = isRunning(state) ? state.processes.find(({ name }) => name === server) : undefined;
    if (!found) throw new Error(`The address of ${server} is unknown: set its variable, or run npm start.`);
    return found.port;
  };
  const localAdminUrl = () => postgresUrl(portOf('postgres'), readSecrets(layout).postgresPassword);
  const databaseUrlOf = (service: string) =>
    textOf(databaseVariable(service), env) ?? databaseUrl(service, localAdminUrl(), readSecrets(layout));
  return {
    adminUrlOf: (service) => {
      const url = new URL(textOf('MIGRATE_DATABASE_URL', env) ?? localAdminUrl());
      url.pathname = new URL(databaseUrlOf(service)).pathname;
      return url.href;
    },
    blobUrl: textOf('BLOB_URL', env) ?? pathToFileURL(layout.blobs).href,
  };
}
