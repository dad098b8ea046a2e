import { existsSync } from 'node:fs';
import { locateChromium } from './chromium.mjs';
import { databaseUrls, migrateDatabases, withoutConfiguredDatabase } from './databases.mjs';
import { portNamesOf, sharedEnvironment } from './environment.mjs';
import { installPackages } from './install-packages.mjs';
import { createFolders } from './paths.mjs';
import { inspectPortsOf, isFree, reservePorts } from './ports.mjs';
import { prepareCode } from './prepare-code.mjs';
import { LauncherError } from './run.mjs';
import { elapsed } from './progress.mjs';
import { readSecrets } from './secrets.mjs';
import { startServers } from './servers/group.mjs';
import { serviceProcesses, stubProcess } from './service-processes.mjs';
import { chooseServices, discoverServices } from './services.mjs';

const serviceReadyWithinSeconds = 120;

/**
 * Starts the whole platform under the supervisor; returns when everything is ready. What does not depend on
 * each other runs side by side.
 * @param {object} options
 * @param {import('./paths.mjs').Layout} options.layout
 * @param {import('./supervisor.mjs').Supervisor} options.supervisor
 * @param {import('./progress.mjs').Progress} options.progress
 * @param {number} options.port the gateway's
 * @param {string[] | undefined} options.only the services that run for real, where not all do
 * @param {string} options.publicUrl
 * @param {boolean} options.inspect whether a debugger may attach to each process of a service
 */
export async function startPlatform({ layout, supervisor, progress, port, only, publicUrl, inspect }) {
  const beganAt = Date.now();
  createFolders(layout);
  await refuseTakenPort(port);
  const { chosen: services, stubs } = chooseServices(discoverServices(), only);
  const runnable = services.filter(({ hasMain }) => hasMain);
  const secrets = readSecrets(layout);
  const chromium = await locateChromium(progress);

  const packagesInstalled = installPackages(progress);
  const codeReady = packagesInstalled.then(() => prepareCode(progress));
  const servers = await startServers({
    layout,
    supervisor,
    progress,
    packagesInstalled,
    without: services.some(({ usesTemporal }) => usesTemporal) ? [] : ['temporal'],
    configured: {
      postgres: withoutConfiguredDatabase(services).length === 0 ? 'DATABASE_URL_…' : undefined,
      redis: process.env.REDIS_URL,
      nats: process.env.NATS_URL,
      temporal: process.env.TEMPORAL_ADDRESS,
    },
  });
  const migrate = async () => {
    const adminUrl = await servers.postgres;
    return progress.task('databases', async (task) => {
      const urls = databaseUrls(services, adminUrl, secrets);
      task.result(await migrateDatabases({ services, adminUrl, urls, layout, progress, task }));
      return urls;
    });
  };

  const [urls, redis, nats] = await Promise.all([migrate(), servers.redis, servers.nats, codeReady]);
  const addressed = [...runnable, ...stubs];
  const portNames = [...portNamesOf(addressed), 'service-stubs-admin'];
  /** @type {Record<string, number>} */
  const ports = { ...(await reservePorts(layout.ports, portNames)), 'gateway-http': port };
  const environment = sharedEnvironment({
    services: addressed,
    ports,
    secrets,
    layout,
    databaseUrls: urls,
    servers: { redis, nats, temporal: servers.temporalAddress },
    publicUrl,
    chromium,
  });

  const inspectPorts = inspect ? await inspectPortsOf(runnable) : {};
  const startProcess = (/** @type {import('./supervisor.mjs').ProcessSpec} */ spec) =>
    progress.task(spec.name, async (task) => {
      supervisor.start(spec);
      await supervisor.untilReady(spec.name, serviceReadyWithinSeconds);
      const debuggerPort = inspectPorts[spec.name];
      task.result(
        `on port ${spec.port}${debuggerPort === undefined ? '' : `, debugger at 127.0.0.1:${debuggerPort}`}`,
      );
    });
  /** What needs a browser that is still being installed is ready when that is; nobody waits for it. */
  const startWhenPossible = async (/** @type {import('./supervisor.mjs').ProcessSpec} */ spec) => {
    const started = startProcess(spec);
    if (spec.name !== 'pdf-renderer' || (chromium !== undefined && existsSync(chromium))) return started;
    started.catch(() => {});
  };
  const processesOf = (/** @type {import('./services.mjs').Service} */ service) =>
    serviceProcesses(service, environment, ports, inspectPorts);
  // What only works for a service, a browser above all, takes long to load, and nobody waits for it to answer.
  const helpers = runnable.filter(({ serves }) => serves !== undefined).flatMap(processesOf);
  const specs = runnable.filter(({ serves }) => serves === undefined).map(processesOf);
  await Promise.all([
    ...(stubs.length === 0 ? [] : [startProcess(stubProcess(stubs, environment, ports))]),
    ...specs.map(([main]) => startProcess(/** @type {import('./supervisor.mjs').ProcessSpec} */ (main))),
  ]);
  progress.info('gateway', `answers at ${publicUrl} after ${elapsed(beganAt)}`);
  const workers = specs.flatMap(([, ...rest]) => rest);
  const startWorkers = async () => {
    const hasTemporal = workers.length === 0 || (await servers.temporal) !== undefined;
    if (hasTemporal) await Promise.all(workers.map(startProcess));
    else for (const { name } of workers) progress.info(name, 'not started, because it works for Temporal');
  };
  await Promise.all([startWorkers(), ...helpers.map(startWhenPossible)]);
  return {
    services: runnable,
    migrate,
    temporalPages: (await servers.temporal) === undefined ? undefined : servers.temporalPages,
  };
}

/** @param {number} port */
async function refuseTakenPort(port) {
  if (await isFree(port)) return;
  throw new LauncherError(
    `Port ${port} is taken by another program. End it, or choose another port: PLINTH_PORT=${port + 1} npm start`,
  );
}
