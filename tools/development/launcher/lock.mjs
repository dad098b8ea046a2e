import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { identify, isAlive } from './process-identity.mjs';

/**
 * Runs the work while no other process on this machine holds the same lock file. A lock whose holder died
 * is taken over, as is one that names none.
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
    if (holder !== undefined && !(holder.identity && isAlive(holder.identity))) {
      removeStale(file, holder.text);
      continue;
    }
    if (!isReported && holder?.identity) {
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

/**
 * Whoever finds the file can read who holds it, also where its writer is killed or the disk is full.
 * @param {string} file
 * @param {string} text
 */
function tryCreate(file, text) {
  const own = `${file}.${process.pid}`;
  try {
    writeFileSync(own, text);
    linkSync(own, file);
    return true;
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(own, { force: true });
  }
}

/**
 * @param {string} file
 * @returns {{ text: string, identity: import('./process-identity.mjs').Identity | undefined } | undefined}
 */
function readHolder(file) {
  try {
    const text = readFileSync(file, 'utf8');
    return { text, identity: identityIn(text) };
  } catch {
    // Gone again: the next look decides.
    return undefined;
  }
}

/** @param {string} text */
function identityIn(text) {
  try {
    return /** @type {import('./process-identity.mjs').Identity} */ (JSON.parse(text));
  } catch {
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
