import type { Close } from '@plinth/runtime/process/lifecycle';
import { runTemporalWorker, type TemporalWorkerSetup } from '@plinth/runtime/temporal/temporal-worker';
import type { WorkflowConfig } from '../config';
import type { Activities } from './activities';

/** A step takes some statements: more of them at the same time would only wait for the database. */
const STEPS_AT_ONCE_MAX = 8;

export interface WorkerSetup extends Pick<TemporalWorkerSetup, 'log' | 'workflowBundle'> {
  config: WorkflowConfig;
  activities: Activities;
}

/** Runs the timers of approvals. */
export const startWorker = (setup: WorkerSetup): Close =>
  runTemporalWorker({
    ...setup,
    taskQueue: setup.config.WORKFLOW_TASK_QUEUE,
    maxConcurrentActivityTaskExecutions: STEPS_AT_ONCE_MAX,
    shutdownGraceTime: '10 seconds',
    // An approval may wait for weeks, longer than the version that began it should run.
    deployment: { name: 'plinth-workflow', behavior: 'AUTO_UPGRADE' },
  });
