import { spawn } from 'node:child_process';

/** What a person needs to know, without a stack. */
export class LauncherError extends Error {}

/**
 * Runs a program to its end and answers what it printed. Fails with its last lines.
 * @param {string} command
 * @param {string[]} args
 * @param {import('node:child_process').SpawnOptions & { name?: string, timeoutSeconds?: number }} [options]
 * @returns {Promise<string>}
 */
export function run(command, args, { name = command, timeoutSeconds, ...options } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    const timer = timeoutSeconds && setTimeout(() => child.kill('SIGKILL'), timeoutSeconds * 1000);
    let output = '';
    child.stdout?.on('data', (chunk) => (output += chunk));
    child.stderr?.on('data', (chunk) => (output += chunk));
    child.on('error', (error) => reject(new LauncherError(`${name} could not be started: ${error.message}`)));
    child.on('close', (code, signal) => {
      clearTimeout(timer || undefined);
      if (code === 0) resolve(output);
      else
        reject(new LauncherError(`${name} failed (${signal ?? `exit ${code}`}):\n${lastLines(output, 15)}`));
    });
  });
}

/** @param {string} text @param {number} count */
export function lastLines(text, count) {
  const lines = text.trimEnd().split('\n').slice(-count);
  return lines.map((line) => `    ${line}`).join('\n');
}
