import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, readlinkSync } from 'node:fs';
import { eventually } from '@plinth/testing/eventually';
import { reservePorts } from '../../development/launcher/ports.mjs';
import { probe } from '../../development/launcher/probes.mjs';
import { birthOf } from '../../development/launcher/process-identity.mjs';
import { lastLines } from '../../development/launcher/run.mjs';
import type { ReplaceableProcess, ReplicatedPlatform } from './replicated-platform';

const MILLISECONDS_MAX = 300_000;
const LINES_SHOWN = 12;

/**
 * Replaces a process as a cluster does: a second replica starts, the first one is stopped when the second is ready,
 * and is running again before the second one is stopped. Fails where one does not exit with code 0.
 */
export async function replaceProcess(
  platform: ReplicatedPlatform,
  subject: ReplaceableProcess,
): Promise<void> {
  const pid = platform.pidOf(subject.name)!;
  const { end: endSecond } = await startSecond(platform, subject);
  const bornAt = birthOf(pid);
  process.kill(pid, 'SIGTERM');
  await eventually(() => birthOf(pid) !== bornAt, MILLISECONDS_MAX);
  await eventually(() => ![pid, undefined].includes(platform.pidOf(subject.name)), MILLISECONDS_MAX);
  await waitUntilReady(subject, subject.adminPort);
  await endSecond();
}

/** A second replica of a process, which runs until it is ended. */
export interface SecondReplica {
  pid: number;
  adminPort: number;
  /** Fails where it does not exit with code 0. */
  end(): Promise<void>;
}

/** Starts a second replica of a process, as that was started; returns when it is ready. */
export async function startSecond(
  { layout, pidOf }: ReplicatedPlatform,
  subject: ReplaceableProcess,
): Promise<SecondReplica> {
  const { command, environment, directory } = startOptionsOf(pidOf(subject.name)!);
  const names = [...subject.listeners.map(({ variable }) => variable), 'ADMIN_PORT'];
  const ports = await reservePorts(
    layout.ports,
    names.map((name) => `second ${subject.name} ${name}`),
  );
  const portOf = (name: string): number => ports[`second ${subject.name} ${name}`]!;
  const env = { ...environment, ...Object.fromEntries(names.map((name) => [name, String(portOf(name))])) };
  const logFile = layout.log(`${subject.name}-second`);
  const log = openSync(logFile, 'a');
  // In a session of its own, as the launcher starts the first: Linux shares the processors between sessions first.
  // The kernel ends it with us, however we end: in jest no handler of `exit` is called.
  const second = spawn('setpriv', ['--pdeathsig', 'KILL', ...command], {
    env,
    cwd: directory,
    stdio: ['ignore', log, log],
    detached: true,
  });
  closeSync(log);
  const ended = once(second, 'exit') as Promise<[number | null, string | null]>;
  const adminPort = portOf('ADMIN_PORT');
  const replicas = subject.listeners.map(({ variable, address }) => {
    const replica = { port: portOf(variable), adminPort };
    address.add(replica);
    return { address, replica };
  });
  await waitUntilReady(subject, adminPort);
  const end = async (): Promise<void> => {
    second.kill('SIGTERM');
    const [exitCode, signal] = await ended;
    for (const { address, replica } of replicas) address.remove(replica);
    if (exitCode === 0) return;
    const lines = lastLines(readFileSync(logFile, 'utf8'), LINES_SHOWN);
    throw new Error(`${subject.name} was stopped and exited with ${exitCode ?? signal}:\n${lines}`);
  };
  return { pid: second.pid!, adminPort, end };
}

/** Waits until a replica is ready, and the addresses in front of it route to it. */
async function waitUntilReady({ listeners }: ReplaceableProcess, adminPort: number): Promise<void> {
  const url = `http://127.0.0.1:${adminPort}/readyz`;
  await eventually(async () => (await probe({ kind: 'http', url })) === undefined, MILLISECONDS_MAX);
  await eventually(() => listeners.every(({ address }) => address.isReady(adminPort)), MILLISECONDS_MAX);
}

/** How a running process was started, from /proc. */
function startOptionsOf(pid: number) {
  const read = (file: string) => readFileSync(`/proc/${pid}/${file}`, 'utf8').split('\0').slice(0, -1);
  return {
    command: read('cmdline'),
    environment: Object.fromEntries(
      read('environ').map((entry) => [
        entry.slice(0, entry.indexOf('=')),
        entry.slice(entry.indexOf('=') + 1),
      ]),
    ),
    directory: readlinkSync(`/proc/${pid}/cwd`),
  };
}
