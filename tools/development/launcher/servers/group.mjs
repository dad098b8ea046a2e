import { createFolders } from '../paths.mjs';
import { reservePorts } from '../ports.mjs';
import { LauncherError } from '../run.mjs';
import { readSecrets } from '../secrets.mjs';
import { natsUrl, prepareNats } from './nats.mjs';
import { postgresUrl, preparePostgres } from './postgres.mjs';
import { prepareRedis, redisUrl } from './redis.mjs';
import { sources } from './sources.mjs';
import { findOrInstall } from './strategies.mjs';
import { prepareTemporal } from './temporal.mjs';

const readyWithinSeconds = 120;
const portNames = /** @type {const} */ ([
  'postgres',
  'redis',
  'nats',
  'nats-monitor',
  'temporal',
  'temporal-http',
  'temporal-ui',
  'temporal-metrics',
]);

/**
 * Where the servers are that this launcher does not have to start.
 * @typedef {Partial<Record<'postgres' | 'redis' | 'nats' | 'temporal', string | undefined>>} Addresses
 */

/**
 * Starts PostgreSQL, Redis, NATS and Temporal side by side under the supervisor, except those that the
 * addresses given already name. Each promise resolves when its server is ready.
 * @param {object} options
 * @param {import('../paths.mjs').Layout} options.layout
 * @param {import('../supervisor.mjs').Supervisor} options.supervisor
 * @param {import('../progress.mjs').Progress} options.progress
 * @param {Addresses} options.configured
 * @param {Promise<unknown>} options.packagesInstalled PostgreSQL is one of the packages
 * @param {string[]} [options.postgresSettings]
 * @param {string[]} [options.without] servers that nothing will use
 */
export async function startServers({
  layout,
  supervisor,
  progress,
  configured,
  packagesInstalled,
  postgresSettings,
  without = [],
}) {
  createFolders(layout);
  const ports = await reservePorts(layout.ports, [...portNames]);
  const secrets = readSecrets(layout);

  /** @type {(name: string, address: string | undefined, start: (task: import('../progress.mjs').Task) => Promise<string>) => Promise<string>} */
  const start = async (name, address, begin) => {
    if (address !== undefined) {
      progress.info(name, `as configured: ${withoutPassword(address)}`);
      return address;
    }
    return progress.task(name, async (task) => {
      const found = await begin(task);
      await supervisor.untilReady(name, readyWithinSeconds);
      return found;
    });
  };

  const postgres = start('postgres', configured.postgres, async (task) => {
    await packagesInstalled;
    const password = secrets.postgresPassword;
    const options = { layout, port: ports.postgres, password, settings: postgresSettings ?? [] };
    supervisor.start(await preparePostgres({ ...options, isOfTests: postgresSettings !== undefined }));
    task.result(`PostgreSQL 18 (npm) on port ${ports.postgres}`);
    return postgresUrl(ports.postgres, password);
  });

  const redis = start('redis', configured.redis, async (task) => {
    const { program, from } = await findOrInstall(sources.redis, task);
    supervisor.start(prepareRedis({ layout, program, port: ports.redis }));
    task.result(`${from} on port ${ports.redis}`);
    return redisUrl(ports.redis);
  });

  const nats = start('nats', configured.nats, async (task) => {
    const { program, from } = await findOrInstall(sources.nats, task);
    supervisor.start(prepareNats({ layout, program, port: ports.nats, monitorPort: ports['nats-monitor'] }));
    task.result(`${from} on port ${ports.nats}`);
    return natsUrl(ports.nats);
  });

  const startTemporal = () =>
    start('temporal', configured.temporal, async (task) => {
      const { program, from } = await findOrInstall(sources.temporal, task);
      supervisor.start(
        prepareTemporal({
          layout,
          program,
          port: ports.temporal,
          httpPort: ports['temporal-http'],
          uiPort: ports['temporal-ui'],
          metricsPort: ports['temporal-metrics'],
        }),
      );
      task.result(`${from} on port ${ports.temporal}`);
      return `127.0.0.1:${ports.temporal}`;
    });
  const temporal = without.includes('temporal')
    ? Promise.resolve(undefined)
    : startTemporal().catch((error) => {
        // The platform works without it; only the work that outlives a request does not.
        if (error instanceof LauncherError) return undefined;
        throw error;
      });

  return {
    postgres,
    redis,
    nats,
    temporal,
    temporalAddress: configured.temporal ?? `127.0.0.1:${ports.temporal}`,
    temporalPages: configured.temporal === undefined ? `http://127.0.0.1:${ports['temporal-ui']}` : undefined,
  };
}

/** @param {string} address */
function withoutPassword(address) {
  return address.replace(/\/\/[^@/]*@/, '//');
}
