import type * as TemporalWorker from '@temporalio/worker';
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { root } from '../launcher/paths.mjs';
import type { Service } from '../launcher/services.mjs';
import { isNewer } from './is-newer.ts';

const trace = join(root, 'libs', 'runtime', 'src', 'temporal', 'workflow-trace.ts');

const workflowsOf = ({ directory }: Service) => join(directory, 'src', 'temporal', 'workflows');
const bundleOf = ({ name }: Service) => join(root, 'dist', 'apps', name, 'workflows.js');

export const hasWorkflows = (service: Service): boolean => existsSync(join(workflowsOf(service), 'index.ts'));

/** Whether the bundle of workflows is older than their code. */
export const areWorkflowsOutdated = (service: Service): boolean =>
  !isNewer(bundleOf(service), [workflowsOf(service), trace]);

/** Bundles the Temporal workflows of a service to `dist/apps/<name>/workflows.js`. */
export async function bundleWorkflows(service: Service): Promise<void> {
  const { bundleWorkflowCode } = loadBundler();
  const { code } = await bundleWorkflowCode({
    workflowsPath: join(workflowsOf(service), 'index.ts'),
    workflowInterceptorModules: [trace],
    logger: onlyFaults,
  });
  const bundle = bundleOf(service);
  mkdirSync(dirname(bundle), { recursive: true });
  const draft = `${bundle}.${process.pid}.draft`;
  writeFileSync(draft, inLatin1(code));
  renameSync(draft, bundle);
}

/**
 * The same program without a character that needs two bytes. One of them, such as a dash in a comment of a package, makes
 * the whole text take twice the memory, in a worker as well as in its thread of workflows.
 */
export const inLatin1 = (code: string): string =>
  code.replace(/[\u0100-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

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
