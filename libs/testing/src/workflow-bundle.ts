import { createHash } from 'node:crypto';
import { bundleWorkflowCode } from '@temporalio/worker';
import { oncePerRun } from './run-directory';

export type WorkflowBundle = { code: string };

const quiet = { trace() {}, debug() {}, info() {}, warn() {}, error() {}, log() {} };

/** Bundles workflows as a build does; once for all specs of a run, because it takes seconds of processor time. */
export async function bundleWorkflows(workflowsPath: string): Promise<WorkflowBundle> {
  const name = `workflows-${createHash('sha256').update(workflowsPath).digest('hex')}`;
  return {
    code: await oncePerRun(
      name,
      async () => (await bundleWorkflowCode({ workflowsPath, logger: quiet })).code,
    ),
  };
}
