import { databaseUrl, databaseVariable } from '../../development/launcher/environment.mjs';
import { layoutOf } from '../../development/launcher/paths.mjs';
import { readSecrets } from '../../development/launcher/secrets.mjs';
import { postgresUrl } from '../../development/launcher/servers/postgres.mjs';
import { discoverServices } from '../../development/launcher/services.mjs';
import { isRunning, readState } from '../../development/launcher/state.mjs';

/** The addresses of databases and NATS. */
export interface Endpoints {
  databaseUrlOf(service: string): string;
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
  return {
    databaseUrlOf: (service) => {
      const configured = env[databaseVariable(service)];
      if (configured !== undefined) return configured;
      const secrets = readSecrets(layout);
      return databaseUrl(service, postgresUrl(portOf('postgres'), secrets.postgresPassword), secrets);
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
