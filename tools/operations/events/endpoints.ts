import { databaseUrl, databaseVariable } from '../../development/launcher/environment.mjs';
import { layoutOf } from '../../development/launcher/paths.mjs';
import { readSecrets } from '../../development/launcher/secrets.mjs';
import { postgresUrl } from '../../development/launcher/servers/postgres.mjs';
import { discoverServices } from '../../development/launcher/services.mjs';
import { isRunning, readState } from '../../development/launcher/state.mjs';

/** The addresses of databases and NATS. */
export interface Endpoints {
  databaseUrlOf(service: string): string;
  /** The same database as an administrator, who sees the rows of all tenants. */
  adminUrlOf(service: string): string;
  natsUrl: string;
  natsPrefix: string;
  eventKey: string;
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
    env[databaseVariable(service)] ?? databaseUrl(service, localAdminUrl(), readSecrets(layout));
  return {
    databaseUrlOf,
    adminUrlOf: (service) => {
      const url = new URL(env['MIGRATE_DATABASE_URL'] ?? localAdminUrl());
      url.pathname = new URL(databaseUrlOf(service)).pathname;
      return url.href;
    },
    get natsUrl() {
      return env['NATS_URL'] ?? `nats://127.0.0.1:${portOf('nats')}`;
    },
    natsPrefix: env['NATS_PREFIX'] ?? 'plinth',
    get eventKey() {
      return (env['EVENT_KEYS'] ?? readSecrets(layout).eventKeys).split(',', 1)[0]!.trim();
    },
  };
}
