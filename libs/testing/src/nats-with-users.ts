import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { subjectOf, type MessagingConfig } from '@plinth/runtime/messaging/nats';
import { eventually } from './eventually';
import { findOrInstall } from './find-or-install';
import { freePort } from './free-port';
import { TEST_KEYS } from './http';

const config = join(__dirname, '../../../k8s/nats/plinth.conf');

/** Every service that has a user at NATS. */
export const natsServices = [
  'contacts',
  'data-exchange',
  'localization',
  'settings',
  'template',
  'timeline',
  'workflow',
];

export interface NatsWithUsers {
  readonly url: string;
  /** How a service connects, or the operator. */
  configOf(user: string): MessagingConfig;
  /**
   * Which kinds of events a running service receives: to each of its consumers an event is published that nobody signed,
   * which the service takes and discards.
   */
  receivedBy(service: string): Promise<string[]>;
  /** Which kinds of events the permissions of a service let it read. */
  readableBy(service: string): string[];
  stop(): Promise<void>;
}

/** Runs NATS with the users and permissions of `k8s/nats/plinth.conf`. @param options more of the command line */
export async function startNatsWithUsers(...options: string[]): Promise<NatsWithUsers> {
  const [port, monitor] = await Promise.all([freePort(), freePort()]);
  const store = mkdtempSync(join(tmpdir(), 'plinth-nats-users-'));
  const passwordOf = (user: string): string => `password-of-${user}`;
  const passwords = [...natsServices, 'operator'].map((user) => [
    `NATS_PASSWORD_${user.toUpperCase().replaceAll('-', '_')}`,
    passwordOf(user),
  ]);
  const args = ['-c', config, '-a', '127.0.0.1', '-p', String(port), '-m', String(monitor), '-sd', store];
  const server = spawn(findOrInstall('nats')!, [...args, ...options], {
    env: Object.fromEntries(passwords),
    stdio: 'ignore',
  });
  const url = `nats://127.0.0.1:${port}`;
  return {
    url,
    configOf: (user) => ({
      NATS_URL: url,
      NATS_PREFIX: 'plinth',
      EVENT_KEYS: TEST_KEYS,
      NATS_USER: user,
      NATS_PASSWORD: passwordOf(user),
    }),
    async receivedBy(service) {
      const connection = await connect({ servers: url, user: 'operator', pass: passwordOf('operator') });
      const { consumers } = await jetstreamManager(connection);
      const names: string[] = [];
      for await (const { name, config } of consumers.list('plinth')) {
        if (!name.startsWith(`${service}_`)) continue;
        names.push(config.filter_subject!.slice(subjectOf('plinth', '').length));
        await jetstream(connection).publish(config.filter_subject!, '{}');
        await eventually(async () => {
          const { delivered, num_pending, num_ack_pending } = await consumers.info('plinth', name);
          return delivered.consumer_seq > 0 && num_pending + num_ack_pending === 0;
        });
      }
      await connection.close();
      return names.sort();
    },
    readableBy: (service) => {
      const request = new RegExp(
        `CONSUMER\\.CREATE\\.plinth\\.${service}_\\S+?\\.plinth\\.events\\.([\\w.-]+)"`,
        'g',
      );
      return [...readFileSync(config, 'utf8').matchAll(request)].map(([, name]) => name!).sort();
    },
    async stop() {
      server.kill();
      await once(server, 'exit');
      rmSync(store, { recursive: true });
    },
  };
}

/** What the server refuses this connection from now on. */
export function collectRefusals(connection: NatsConnection): string[] {
  const refusals: string[] = [];
  void (async () => {
    for await (const status of connection.status())
      if (status.type === 'error') refusals.push(status.error.message);
  })();
  return refusals;
}
