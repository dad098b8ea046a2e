import type { Close } from '@plinth/runtime/lifecycle';
import type { Log } from '@plinth/runtime/log';
import { DefaultLogger, NativeConnection, Runtime, Worker, type WorkerOptions } from '@temporalio/worker';
import type { Activities } from './activities';

const RECONNECT_MILLISECONDS = 2_000;

export interface WorkerSetup {
  config: { TEMPORAL_ADDRESS: string; TEMPORAL_NAMESPACE: string; WORKFLOW_TASK_QUEUE: string };
  log: Log;
  workflowBundle: NonNullable<WorkerOptions['workflowBundle']>;
  activities: Activities;
}

/** What Temporal's own parts have to say goes where everything else goes. Once per process, before any worker. */
export function sendTemporalLogsTo(log: Log): void {
  const logger = new DefaultLogger('WARN', ({ level, message, meta }) => {
    log[level === 'ERROR' ? 'error' : 'warn']({ ...meta }, message);
  });
  Runtime.install({ logger });
}

/** Works off timers of approvals for as long as the process lives; while Temporal is away it keeps trying. */
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

async function workUntil(stop: Promise<void>, setup: WorkerSetup): Promise<void> {
  const { config, workflowBundle, activities, log } = setup;
  const connection = await NativeConnection.connect({ address: config.TEMPORAL_ADDRESS });
  try {
    const worker = await Worker.create({
      connection,
      namespace: config.TEMPORAL_NAMESPACE,
      taskQueue: config.WORKFLOW_TASK_QUEUE,
      workflowBundle,
      activities,
      shutdownGraceTime: '10 seconds',
    });
    log.info('waiting for timers of approvals');
    await worker.runUntil(stop);
  } finally {
    await connection.close();
  }
}

const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));
