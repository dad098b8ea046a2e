import { databaseUrl, databaseVariable } from '../launcher/environment.mjs';
import { layoutOf } from '../launcher/paths.mjs';
import { readSecrets } from '../launcher/secrets.mjs';
import { postgresUrl } from '../launcher/servers/postgres.mjs';
import { discoverServices } from '../launcher/services.mjs';
import { isRunning, readState } from '../launcher/state.mjs';

/** Where the databases and the messages are. */
export interface Whereabouts {
  databaseUrlOf(service: string): string;
  natsUrl: string;
  natsPrefix: string;
}

export const servicesWithDatabase = (): string[] =>
  discoverServices()
    .filter(({ hasDatabase }) => hasDatabase)
    .map(({ name }) => name);

/** As the environment says; what it does not say is taken from the platform that `npm start` runs here. */
export function whereEverythingIs(env: NodeJS.ProcessEnv): Whereabouts {
  const layout = layoutOf();
  const portOf = (server: string): number => {
    const state = readState(layout);
    const found = isRunning(state) ? state.processes.find(({ name }) => name === server) : undefined;
    if (!found) throw new Error(`Nothing says where ${server} is: set its variable, or run npm start.`);
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
  };
}
