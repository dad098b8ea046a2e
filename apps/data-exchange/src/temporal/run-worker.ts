import type { Close } from '@plinth/runtime/process/lifecycle';
import { runTemporalWorker, type TemporalWorkerSetup } from '@plinth/runtime/temporal/temporal-worker';
import type { DataExchangeConfig } from '../config';
import type { Activities } from './activities';
import { ACTIVITIES_MAX } from './worker-shares';
import { shortQueueOf } from './workflows/task-queues';

export interface WorkerSetup extends Required<Pick<TemporalWorkerSetup, 'log' | 'workflowBundle'>> {
  config: DataExchangeConfig;
  activities: Activities;
}

/** Runs imports and exports: long activities, which share their queue, and beside them short ones. */
export function startWorker({ workflowBundle, ...setup }: WorkerSetup): Close {
  const taskQueue = setup.config.EXCHANGE_TASK_QUEUE;
  const limits = {
    // A job ends within hours, by the version that began it.
    deployment: { name: 'plinth-data-exchange', behavior: 'PINNED' },
    maxConcurrentActivityTaskExecutions: ACTIVITIES_MAX,
    // Several heartbeats may be late before their timeout ends (work-options.ts).
    maxHeartbeatThrottleInterval: '500 milliseconds',
    shutdownGraceTime: '5 seconds',
  } as const;
  const stopLong = runTemporalWorker({ ...setup, ...limits, workflowBundle, taskQueue });
  const stopShort = runTemporalWorker({ ...setup, ...limits, taskQueue: shortQueueOf(taskQueue) });
  return async () => {
    await Promise.all([stopLong(), stopShort()]);
  };
}
