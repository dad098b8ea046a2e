import type { Close } from '@plinth/runtime/lifecycle';
import type { Log } from '@plinth/runtime/log';
import { NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import type { Activities } from './activities';

const RECONNECT_MILLISECONDS = 2_000;

export interface WorkerSetup {
  config: { TEMPORAL_ADDRESS: string; TEMPORAL_NAMESPACE: string; EXCHANGE_TASK_QUEUE: string };
  log: Log;
  workflowBundle: NonNullable<WorkerOptions['workflowBundle']>;
  activities: Activities;
}

/** Works off imports and exports for as long as the process lives; while Temporal is away it keeps trying. */
export function startWorker(setup: WorkerSetup): Close {
  const stop = Promise.withResolvers<void>();
  let isStopping = false;

  const run = async (): Promise<void> => {
    while (!isStopping) {
      try {
        await workUntil(stop.promise, setup);
      } catch (error) {
        setup.log.warn({ err: error }, 'Temporal does not answer; trying again');
        await Promise.race([stop.promise, pause(RECONNECT_MILLISECONDS)]);
      }
    }
  };
  const running = run();
  return async () => {
    isStopping = true;
    stop.resolve();
    await running;
  };
}

async function workUntil(
  stop: Promise<void>,
  { config, log, workflowBundle, activities }: WorkerSetup,
): Promise<void> {
  const connection = await NativeConnection.connect({ address: config.TEMPORAL_ADDRESS });
  try {
    const worker = await Worker.create({
      connection,
      namespace: config.TEMPORAL_NAMESPACE,
      taskQueue: config.EXCHANGE_TASK_QUEUE,
      workflowBundle,
      activities,
      maxConcurrentActivityTaskExecutions: 8,
      shutdownGraceTime: '5 seconds',
    });
    log.info('waiting for imports and exports');
    await worker.runUntil(stop);
  } finally {
    await connection.close();
  }
}

const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));
