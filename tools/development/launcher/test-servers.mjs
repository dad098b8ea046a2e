import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { readJson, writeJson } from './json-file.mjs';
import { withLock } from './lock.mjs';
import { sendToStarter } from './messages.mjs';
import { createFolders, layoutOf } from './paths.mjs';
import { identify, isAlive } from './process-identity.mjs';
import { probe } from './probes.mjs';
import { createProgress } from './progress.mjs';
import { LauncherError } from './run.mjs';
import { runDetached } from './run-detached.mjs';
import { startServers } from './servers/group.mjs';
import { isRunning, readState } from './state.mjs';
import { stopOnce } from './stop-once.mjs';
import { stopPlatform } from './stop-platform.mjs';
import { Supervisor } from './supervisor.mjs';

const layout = layoutOf(join('.plinth', 'test'));
const addressesFile = join(layout.data, 'servers.json');
const runsFolder = join(layout.data, 'runs');
const recoverWithinSeconds = 60;
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
 * Makes sure that the servers of the tests run, for all test runs of this checkout.
 * @param {number} [run] the process of a test run that uses them
 * @returns {Promise<boolean>} whether this call started them
 */
export function startTestServers(run) {
  return withLock(layout.lock, async () => {
    if (run !== undefined) addRun(run);
    if (await areHealthy()) return false;
    await stopPlatform(layout);
    await startDetached();
    return true;
  });
}

export const areTestServersStarted = () => isRunning(readState(layout));

async function stopTestServers() {
  await stopPlatform(layout);
  rmSync(addressesFile, { force: true });
  rmSync(runsFolder, { recursive: true, force: true });
}

/** Records the process of a test run, so that the servers are not stopped while it uses them. @param {number} pid */
function addRun(pid) {
  writeJson(join(runsFolder, `${pid}.json`), identify(pid));
}

/** Stops the servers unless another test run still uses them. */
export function stopTestServersWhenUnused() {
  return withLock(layout.lock, async () => {
    const files = existsSync(runsFolder) ? readdirSync(runsFolder) : [];
    if (!files.some((file) => isAlive(readJson(join(runsFolder, file), undefined)))) await stopTestServers();
  });
}

/** Other tests may be running on them: servers that are only slow or restarting are waited for. */
async function areHealthy() {
  const deadline = Date.now() + recoverWithinSeconds * 1000;
  for (;;) {
    const state = readState(layout);
    if (!isRunning(state) || !existsSync(addressesFile)) return false;
    const problems = await Promise.all(state.processes.map((process) => probe(process.probe)));
    if (problems.every((problem) => problem === undefined)) return true;
    if (Date.now() > deadline) return false;
    await pause(200);
  }
}

function startDetached() {
  createFolders(layout);
  return runDetached(self, ['supervise'], layout.log('launcher'));
}

/** Runs in the detached process: the servers live as long as it does. */
async function supervise() {
  const progress = createProgress((line) => {
    console.log(line);
    sendToStarter({ line });
  });
  const supervisor = new Supervisor(layout, {
    onExit: (name, how) => progress.info(name, `exited (${how}); starting it again`),
  });
  stopOnce(() => void stopAndExit(supervisor, 0));
  try {
    // Streams of runs that were killed, for each of which it would set room aside.
    rmSync(layout.server('nats'), { recursive: true, force: true });
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
    sendToStarter({ ready: true });
  } catch (error) {
    if (!(error instanceof LauncherError) || !error.wasShown) console.error(error);
    else sendToStarter({ failed: true });
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
  const [command, run] = process.argv.slice(2);
  if (command === 'supervise') await supervise();
  else if (command === 'start') await startTestServers(run === undefined ? undefined : Number(run));
  else if (command === 'stop') await withLock(layout.lock, stopTestServers);
  else
    console.log('usage: node tools/development/launcher/test-servers.mjs start [pid of the test run] | stop');
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  main().catch((error) => {
    console.error(error instanceof LauncherError ? error.message : error);
    process.exitCode = 1;
  });
}
