import { condition, defineSignal, setHandler, workflowInfo } from '@temporalio/workflow';

export const finish = defineSignal('finish');

/** Waits for its signal, and returns the version of the worker that then runs it. */
export async function waiting(): Promise<string | undefined> {
  let isFinished = false;
  setHandler(finish, () => {
    isFinished = true;
  });
  await condition(() => isFinished);
  return workflowInfo().currentDeploymentVersion?.buildId;
}
