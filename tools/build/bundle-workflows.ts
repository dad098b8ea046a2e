import type * as TemporalWorker from '@temporalio/worker';
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { root } from '../launcher/paths.mjs';
import { discoverServices, type Service } from '../launcher/services.mjs';
import { fingerprint, isMadeFrom, stampFolder } from './stamp.ts';

const trace = join(root, 'libs', 'runtime', 'src', 'workflow-trace.ts');

/** Bundles the Temporal workflows of every service to `dist/apps/<name>/workflows.js`, where they changed. */
export async function bundleWorkflows(): Promise<string[]> {
  const made = await Promise.all(discoverServices().map(bundleOne));
  return made.filter((name) => name !== undefined);
}

async function bundleOne({ name, directory }: Service): Promise<string | undefined> {
  const workflows = join(directory, 'src', 'temporal', 'workflows');
  if (!existsSync(join(workflows, 'index.ts'))) return undefined;
  const folder = join(root, 'dist', 'apps', name);
  const print = fingerprint([workflows, trace], ['@temporalio/worker', '@temporalio/workflow']);
  if (isMadeFrom(folder, print) && existsSync(join(folder, 'workflows.js'))) return undefined;

  const { bundleWorkflowCode } = loadBundler();
  const { code } = await bundleWorkflowCode({
    workflowsPath: join(workflows, 'index.ts'),
    workflowInterceptorModules: [trace],
    logger: onlyFaults,
  });
  mkdirSync(folder, { recursive: true });
  const draft = join(folder, `workflows.${process.pid}.draft`);
  writeFileSync(draft, code);
  renameSync(draft, join(folder, 'workflows.js'));
  stampFolder(folder, print);
  return name;
}

/** Loaded only when needed: it brings webpack and a native library. */
function loadBundler() {
  return createRequire(import.meta.url)('@temporalio/worker') as typeof TemporalWorker;
}

const silent = () => {};
const onlyFaults = {
  log: silent,
  trace: silent,
  debug: silent,
  info: silent,
  warn: (message: string) => console.warn(message),
  error: (message: string) => console.error(message),
};
