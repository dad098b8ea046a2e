import { rmSync } from 'node:fs';
import { readJson } from './json-file.mjs';
import { stopProcess, isAlive } from './process-identity.mjs';

/**
 * @typedef {object} ProcessState
 * @property {string} name
 * @property {'server' | 'service' | 'gateway'} kind
 * @property {number} [pid]
 * @property {string} [bornAt]
 * @property {number} port
 * @property {import('./probes.mjs').Probe} probe
 * @property {NodeJS.Signals} [stopSignal]
 * @property {number} launchedAt
 * @property {number} exits
 */

/**
 * What a supervisor wrote about itself and its processes.
 * @typedef {object} State
 * @property {import('./process-identity.mjs').Identity} [launcher]
 * @property {string} [url]
 * @property {boolean} [ready]
 * @property {ProcessState[]} processes
 */

/** @param {import('./paths.mjs').Layout} layout @returns {State} */
export function readState(layout) {
  return readJson(layout.state, /** @type {State} */ ({ processes: [] }));
}

/** @param {State} state */
export function isRunning(state) {
  return isAlive(state.launcher);
}

/**
 * Stops the processes of a launcher that was killed; returns how many there were.
 * @param {import('./paths.mjs').Layout} layout
 */
export async function stopOrphans(layout) {
  const state = readState(layout);
  if (isRunning(state)) return 0;
  let stopped = 0;
  for (const kind of ['gateway', 'service', 'server']) {
    const orphans = state.processes.filter((process) => process.kind === kind && isAlive(process));
    await Promise.all(orphans.map((orphan) => stopProcess(/** @type {any} */ (orphan), orphan.stopSignal)));
    stopped += orphans.length;
  }
  rmSync(layout.state, { force: true });
  return stopped;
}
