import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { newId } from '@plinth/kernel/uuid';
import { workflowBundle } from './start-data-exchange';

const root = join(__dirname, '../../..');
let program: Promise<string> | undefined;

/** Bundles the worker as `npm run build` does, where packages can be found from. */
async function bundleWorker(): Promise<string> {
  const folder = join(root, 'node_modules/.cache/plinth-test', newId());
  mkdirSync(folder, { recursive: true });
  await build({
    entryPoints: [join(root, 'apps/data-exchange/src/worker.ts')],
    outfile: join(folder, 'worker.js'),
    absWorkingDir: root,
    tsconfig: join(root, 'tsconfig.base.json'),
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'cjs',
    packages: 'external',
    define: { 'import.meta.url': 'importMetaUrl' },
    banner: { js: "const importMetaUrl = require('node:url').pathToFileURL(__filename).href;" },
    logLevel: 'silent',
  });
  writeFileSync(join(folder, 'workflows.js'), (await workflowBundle()).code);
  return join(folder, 'worker.js');
}

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
  const script = await (program ??= bundleWorker());
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
