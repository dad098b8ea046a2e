import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

/** @typedef {{ pid: number, bornAt: string }} Identity */

const lookMilliseconds = 500;

/**
 * When a process began, as its system writes it: with the pid this names a process for good, because a
 * pid alone is given out again. Undefined for a process that is gone, a zombie included.
 * @param {number} pid
 * @returns {string | undefined}
 */
export function birthOf(pid) {
  try {
    if (process.platform !== 'linux') {
      return (
        execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim() || undefined
      );
    }
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the program's name in brackets and may hold spaces: count from behind it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

/** @param {number} pid @returns {Identity | undefined} */
export function identify(pid) {
  const bornAt = birthOf(pid);
  return bornAt === undefined ? undefined : { pid, bornAt };
}

/** @param {Partial<Identity> | undefined} identity */
export function isAlive(identity) {
  return identity?.pid !== undefined && birthOf(identity.pid) === identity.bornAt;
}

/**
 * Calls once when a process has ended, also where it ended long ago. It need not be a child, of whose end alone a process
 * is told: it is looked at again and again.
 * @param {number} pid
 * @param {() => void} onEnd
 */
export function whenEnded(pid, onEnd) {
  const identity = identify(pid);
  const looking = setInterval(() => {
    if (isAlive(identity)) return;
    clearInterval(looking);
    onEnd();
  }, lookMilliseconds);
}

/**
 * Stops a process: by the signal, and by SIGKILL after the grace.
 * @param {Identity} identity
 * @param {NodeJS.Signals} signal
 * @param {number} graceSeconds
 */
export async function stopProcess(identity, signal = 'SIGTERM', graceSeconds = 10) {
  send(identity.pid, identity, signal);
  const deadline = Date.now() + graceSeconds * 1000;
  while (isAlive(identity) && Date.now() < deadline) await pause(30);
  if (!isAlive(identity)) return;
  // Every process was started as the leader of its own group, so this takes its children too.
  send(-identity.pid, identity, 'SIGKILL');
  send(identity.pid, identity, 'SIGKILL');
  while (isAlive(identity)) await pause(30);
}

/** @param {number} target @param {Identity} identity @param {NodeJS.Signals} signal */
function send(target, identity, signal) {
  if (!isAlive(identity)) return;
  try {
    process.kill(target, signal);
  } catch {
    // It exited between the look and the signal.
  }
}
