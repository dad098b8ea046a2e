import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { identify, isAlive } from './process-identity.mjs';

/**
 * Runs the work while no other process on this machine holds the same lock file. A lock whose holder died
 * is taken over.
 * @template T
 * @param {string} file
 * @param {() => Promise<T>} work
 * @param {{ onWait?: (holderPid: number) => void }} [options]
 * @returns {Promise<T>}
 */
export async function withLock(file, work, { onWait } = {}) {
  mkdirSync(dirname(file), { recursive: true });
  const mine = JSON.stringify(identify(process.pid));
  let isReported = false;
  while (!tryCreate(file, mine)) {
    const holder = readHolder(file);
    if (holder !== undefined && !isAlive(holder.identity)) {
      removeStale(file, holder.text);
      continue;
    }
    if (!isReported && holder !== undefined) {
      isReported = true;
      onWait?.(holder.identity.pid);
    }
    await pause(100);
  }
  try {
    return await work();
  } finally {
    rmSync(file, { force: true });
  }
}

/** @param {string} file @param {string} text */
function tryCreate(file, text) {
  try {
    writeFileSync(file, text, { flag: 'wx' });
    return true;
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'EEXIST') return false;
    throw error;
  }
}

/** @param {string} file */
function readHolder(file) {
  try {
    const text = readFileSync(file, 'utf8');
    return { text, identity: /** @type {import('./process-identity.mjs').Identity} */ (JSON.parse(text)) };
  } catch {
    // Gone again, or its writer has not finished: the next look decides.
    return undefined;
  }
}

/** @param {string} file @param {string} text */
function removeStale(file, text) {
  const aside = `${file}.${process.pid}.stale`;
  try {
    renameSync(file, aside);
    // Another waiter may have taken the lock over between our look and the rename: then give it back.
    if (readFileSync(aside, 'utf8') === text) rmSync(aside);
    else renameSync(aside, file);
  } catch {
    // Another process removed it first.
  }
}
