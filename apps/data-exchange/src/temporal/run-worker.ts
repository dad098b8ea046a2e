import type { Close } from '@plinth/runtime/process/lifecycle';
import { runTemporalWorker, type TemporalWorkerSetup } from '@plinth/runtime/temporal/temporal-worker';
import type { DataExchangeConfig } from '../config';
import type { Activities } from './activities';
import { shortQueueOf } from './workflows/task-queues';

export interface WorkerSetup extends Required<Pick<TemporalWorkerSetup, 'log' | 'workflowBundle'>> {
  config: DataExchangeConfig;
  activities: Activities;
}

/** Runs imports and exports: long activities, which share their queue, and beside them short ones. */
export function startWorker({ workflowBundle, ...setup }: WorkerSetup): Close {
  const taskQueue = setup.config.EXCHANGE_TASK_QUEUE;
  const limits = {
    maxConcurrentActivityTaskExecutions: 4,
    // Of heartbeats in five seconds several may be late before a worker counts as crashed.
    maxHeartbeatThrottleInterval: '1 second',
    shutdownGraceTime: '5 seconds',
  } as const;
  const stopLong = runTemporalWorker({ ...setup, ...limits, workflowBundle, taskQueue });
  const stopShort = runTemporalWorker({ ...setup, ...limits, taskQueue: shortQueueOf(taskQueue) });
  return async () => {
    await Promise.all([stopLong(), stopShort()]);
  };
}
