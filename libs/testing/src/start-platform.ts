import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from './free-port';
import { runProcess } from './run-directory';

export type RunningPlatform = {
  readonly url: string;
  /** The directory of everything that it writes. */
  readonly dataDirectory: string;
  /** Process ids by process name, as they are now: a process that was killed is started again with another id. */
  processIds(): Record<string, number | undefined>;
  stop(): Promise<void>;
};

const root = join(__dirname, '../../..');
const runFile = promisify(execFile);

/** Starts the whole platform as `npm start` does, with data and servers of its own; returns when it is ready. */
export async function startPlatform(options: {
  dataDirectory: string;
  port?: number;
  /** For every process of the platform; overrides the launcher's. */
  environment?: Record<string, string>;
  /** The process with which it ends, however that ended; the run of the specs unless told otherwise. */
  parent?: number;
}): Promise<RunningPlatform> {
  const port = options.port ?? (await freePort());
  const data = ['--data', options.dataDirectory];
  const parent = ['--parent', String(options.parent ?? runProcess())];
  await launcher('start.mjs', ['--detach', '--port', String(port), ...data, ...parent], options.environment);
  return {
    url: `http://localhost:${port}`,
    dataDirectory: options.dataDirectory,
    processIds: () => readProcessIds(options.dataDirectory),
    stop: () => stopPlatform(options.dataDirectory),
  };
}

/** Stops the platform of a directory; does nothing where none runs. */
export const stopPlatform = (dataDirectory: string): Promise<void> =>
  launcher('stop.mjs', ['--data', dataDirectory]);

async function launcher(
  script: string,
  args: string[],
  environment: Record<string, string> = {},
): Promise<void> {
  const node = join(root, 'node_modules/.bin/node');
  try {
    // Jest gives tests a copy of the environment; without this the launcher would not get the variables that a test sets.
    const env = { ...process.env, ...environment };
    await runFile(node, [join(root, 'tools/development/launcher', script), ...args], { cwd: root, env });
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`${script} failed:\n${stdout}${stderr}`);
  }
}

/** Process ids of the platform of a directory, by process name. */
export function readProcessIds(dataDirectory: string): Record<string, number | undefined> {
  const state: { processes: { name: string; pid?: number }[] } = JSON.parse(
    readFileSync(join(dataDirectory, 'processes.json'), 'utf8'),
  );
  return Object.fromEntries(state.processes.map(({ name, pid }) => [name, pid]));
}
