import type { Close } from '@plinth/runtime/lifecycle';
import { runTemporalWorker, type TemporalWorkerSetup } from '@plinth/runtime/temporal-worker';
import type { DataExchangeConfig } from '../config';
import type { Activities } from './activities';

export interface WorkerSetup extends Pick<TemporalWorkerSetup, 'log' | 'workflowBundle'> {
  config: DataExchangeConfig;
  activities: Activities;
}

/** Works off imports and exports. */
export const startWorker = (setup: WorkerSetup): Close =>
  runTemporalWorker({
    ...setup,
    taskQueue: setup.config.EXCHANGE_TASK_QUEUE,
    maxConcurrentActivityTaskExecutions: 8,
    shutdownGraceTime: '5 seconds',
  });
