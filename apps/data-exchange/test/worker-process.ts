import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { bundledProgram } from '@plinth/testing/bundled-program';
import { workflowBundle } from './start-data-exchange';

const root = join(__dirname, '../../..');
let program: Promise<string> | undefined;

export interface WorkerProcess {
  pid: number;
  /** As the power going out: nothing is finished, nothing is closed. */
  kill(): Promise<void>;
}

/** Starts a worker in a process of its own, which can be killed. */
export async function startWorkerProcess(
  environment: Record<string, string>,
  options: { nodeOptions?: string[] } = {},
): Promise<WorkerProcess> {
  const script = await (program ??= workflowBundle().then(({ code }) =>
    bundledProgram('apps/data-exchange/src/worker.ts', { 'workflows.js': code }),
  ));
  const child: ChildProcess = spawn(
    join(root, 'node_modules/.bin/node'),
    [...(options.nodeOptions ?? []), script],
    {
      env: {
        ...process.env,
        ...environment,
        NODE_ENV: 'development',
        LOG_LEVEL: 'error',
        HTTP_HOST: '127.0.0.1',
        ADMIN_PORT: '0',
      },
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
  const exited = once(child, 'exit');
  return {
    pid: child.pid!,
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
