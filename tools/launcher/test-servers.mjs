import { spawn } from 'node:child_process';
import { mkdirSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { readJson, writeJson } from './json-file.mjs';
import { withLock } from './lock.mjs';
import { createFolders, layoutOf, root } from './paths.mjs';
import { endProcess } from './process-identity.mjs';
import { probe } from './probes.mjs';
import { createProgress } from './progress.mjs';
import { LauncherError } from './run.mjs';
import { startServers } from './servers/group.mjs';
import { endOrphans, isRunning, readState } from './state.mjs';
import { Supervisor } from './supervisor.mjs';

const layout = layoutOf(join('.plinth', 'test'));
const addressesFile = join(layout.data, 'servers.json');
const self = fileURLToPath(import.meta.url);

/** Nothing in them has to survive the machine. */
const postgresSettings = [
  'fsync=off',
  'synchronous_commit=off',
  'full_page_writes=off',
  'wal_level=minimal',
  'max_wal_senders=0',
  'autovacuum_naptime=10min',
];

/** Servers that the environment names are used as they are. */
const configured = {
  postgres: process.env.TEST_POSTGRES_URL,
  redis: process.env.TEST_REDIS_URL,
  nats: process.env.TEST_NATS_URL,
  temporal: process.env.TEST_TEMPORAL_ADDRESS,
};

/**
 * Makes sure that the servers of the tests run, for everybody who tests in this checkout at the same time.
 * @returns {Promise<boolean>} whether this call started them
 */
export function startTestServers() {
  return withLock(layout.lock, async () => {
    if (await areHealthy()) return false;
    await stopTestServers();
    await startDetached();
    return true;
  });
}

export async function stopTestServers() {
  const { launcher } = readState(layout);
  if (launcher !== undefined) await endProcess(launcher, 'SIGTERM', 60);
  await endOrphans(layout);
  rmSync(addressesFile, { force: true });
}

async function areHealthy() {
  const state = readState(layout);
  if (!isRunning(state) || readJson(addressesFile, undefined) === undefined) return false;
  const faults = await Promise.all(state.processes.map((process) => probe(process.probe)));
  return faults.every((fault) => fault === undefined);
}

function startDetached() {
  createFolders(layout);
  const log = openSync(layout.log('launcher'), 'w');
  const child = spawn(process.execPath, [self, 'supervise'], {
    cwd: root,
    detached: true,
    stdio: ['ignore', log, log, 'ipc'],
  });
  return new Promise((resolve, reject) => {
    child.on('message', (/** @type {{ line?: string, ready?: boolean, fault?: string }} */ message) => {
      if (message.line !== undefined) console.log(message.line);
      if (message.fault !== undefined) reject(new LauncherError(message.fault));
      if (message.ready === true) {
        child.disconnect();
        child.unref();
        resolve(undefined);
      }
    });
    child.on('exit', () =>
      reject(new LauncherError(`The test servers did not start; see ${layout.log('launcher')}`)),
    );
  });
}

/** Runs in the detached process: the servers live as long as it does. */
async function supervise() {
  const send = (/** @type {object} */ message) => process.connected && process.send?.(message);
  const progress = createProgress((line) => {
    console.log(line);
    send({ line });
  });
  const supervisor = new Supervisor(layout, {
    onEnd: (name, how) => progress.note(name, `ended (${how}), starting it again`),
  });
  for (const signal of /** @type {const} */ (['SIGTERM', 'SIGINT', 'SIGHUP'])) {
    process.on(signal, () => void stopAndExit(supervisor, 0));
  }
  try {
    const packagesInstalled = Promise.resolve();
    const servers = await startServers({
      layout,
      supervisor,
      progress,
      configured,
      packagesInstalled,
      postgresSettings,
    });
    const [postgres, redis, nats, temporal] = await Promise.all([
      servers.postgres,
      servers.redis,
      servers.nats,
      servers.temporal,
    ]);
    writeJson(
      addressesFile,
      { postgresUrl: postgres, redisUrl: redis, natsUrl: nats, temporalAddress: temporal },
      0o600,
    );
    send({ ready: true });
  } catch (error) {
    send({ fault: error instanceof Error ? error.message : String(error) });
    await stopAndExit(supervisor, 1);
  }
}

/** @param {Supervisor} supervisor @param {number} code */
async function stopAndExit(supervisor, code) {
  await supervisor.stop();
  rmSync(layout.state, { force: true });
  process.exit(code);
}

async function main() {
  mkdirSync(layout.data, { recursive: true });
  const command = process.argv[2];
  if (command === 'supervise') await supervise();
  else if (command === 'start') await startTestServers();
  else if (command === 'stop') await withLock(layout.lock, stopTestServers);
  else console.log('usage: node tools/launcher/test-servers.mjs start | stop');
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  main().catch((error) => {
    console.error(error instanceof LauncherError ? error.message : error);
    process.exitCode = 1;
  });
}
