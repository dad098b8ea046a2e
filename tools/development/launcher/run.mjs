import { spawn } from 'node:child_process';

/** An error that a person can do something about; printed without its stack. */
export class LauncherError extends Error {
  /** Set once a progress line has shown it. */
  wasShown = false;
}

/** Programs that are stopped with the launcher. @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set();
process.on('exit', () => running.forEach((child) => child.kill()));

/**
 * Runs a program to its end and returns what it printed. Fails with its last lines.
 * @param {string} command
 * @param {string[]} args
 * @param {import('node:child_process').SpawnOptions & { name?: string, linesShown?: number, onOutput?: (chunk: string) => void }} [options]
 *   `detached` lets it finish even when the launcher is stopped
 * @returns {Promise<string>}
 */
export function run(command, args, { name = command, linesShown = 15, onOutput, ...options } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    if (options.detached !== true) running.add(child);
    let output = '';
    const read = (/** @type {Buffer} */ chunk) => {
      output += chunk;
      onOutput?.(String(chunk));
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    child.on('error', (error) => reject(new LauncherError(`${name} could not be started: ${error.message}`)));
    child.on('close', (code, signal) => {
      running.delete(child);
      if (code === 0) resolve(output);
      else
        reject(
          new LauncherError(
            `${name} failed (${signal ?? `exit ${code}`}):\n${lastLines(output, linesShown)}`,
          ),
        );
    });
  });
}

/** @param {string} text @param {number} count */
export function lastLines(text, count) {
  const lines = text.trimEnd().split('\n').slice(-count);
  return lines.map((line) => `    ${line}`).join('\n');
}
