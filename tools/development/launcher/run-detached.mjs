import { spawn } from 'node:child_process';
import { openSync, readFileSync } from 'node:fs';
import { LauncherError, lastLines } from './run.mjs';

/**
 * Starts a launcher of its own session and returns when it reports that everything is ready. Its lines are
 * shown; a signal before that stops it.
 * @param {string} script
 * @param {string[]} args
 * @param {string} logFile
 * @returns {Promise<void>}
 */
export function runDetached(script, args, logFile) {
  const log = openSync(logFile, 'w');
  const child = spawn(process.execPath, [script, ...args], {
    detached: true,
    stdio: ['ignore', log, log, 'ipc'],
  });
  const forward = () => child.kill('SIGTERM');
  process.on('SIGINT', forward).on('SIGTERM', forward);
  return new Promise((resolve, reject) => {
    let isExplained = false;
    child.on('message', (/** @type {import('./messages.mjs').Message} */ { line, ready, failed }) => {
      if (line !== undefined) console.log(line);
      if (failed === true) isExplained = true;
      if (ready !== true) return;
      process.off('SIGINT', forward).off('SIGTERM', forward);
      child.removeAllListeners();
      child.disconnect();
      child.unref();
      resolve();
    });
    child.on('error', reject);
    child.on('exit', () => {
      const last = isExplained
        ? ''
        : `; its last lines (${logFile}):\n${lastLines(readFileSync(logFile, 'utf8'), 12)}`;
      reject(new LauncherError(`Nothing was started${last}`));
    });
  });
}
