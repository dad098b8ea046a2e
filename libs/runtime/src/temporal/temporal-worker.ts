import { DefaultLogger, NativeConnection, Runtime, Worker, type WorkerOptions } from '@temporalio/worker';
import { inTime } from '../process/in-time';
import type { Close } from '../process/lifecycle';
import type { Log } from '../process/log';
import { temporalConnection, type TemporalConfig } from './temporal-connection';
import { traceActivities } from './temporal-trace';

const RECONNECT_MILLISECONDS = 2_000;

/** Longer than any `shutdownGraceTime`, after which activities are told to end, and shorter than a process has to stop. */
const SHUTDOWN_FORCE_TIME = '20 seconds';

export interface TemporalWorkerSetup extends Pick<
  WorkerOptions,
  | 'taskQueue'
  | 'activities'
  | 'maxConcurrentActivityTaskExecutions'
  | 'maxHeartbeatThrottleInterval'
  | 'shutdownGraceTime'
  | 'shutdownForceTime'
> {
  config: TemporalConfig;
  /** The worker deployment it belongs to where workers have versions, and what a running workflow does when one changes. */
  deployment: { name: string; behavior: 'PINNED' | 'AUTO_UPGRADE' };
  /** Absent: only activities are worked off. */
  workflowBundle?: NonNullable<WorkerOptions['workflowBundle']>;
  log: Log;
}

/**
 * Works off a task queue for as long as the process lives; while Temporal is away it keeps trying. An activity that does not
 * end when the process stops is left to another worker.
 * In a file of its own, because a process that only asks Temporal need not load what a worker is made of.
 */
export function runTemporalWorker(setup: TemporalWorkerSetup): Close {
  const stop = Promise.withResolvers<void>();
  let isStopping = false;

  const run = async (): Promise<void> => {
    while (!isStopping) {
      try {
        await workUntil(stop.promise, setup);
      } catch (error) {
        if (isStopping) {
          setup.log.warn({ err: error }, 'an activity did not end in time; another worker tries it again');
          return;
        }
        setup.log.warn({ err: error }, 'Temporal does not respond; trying again');
        await inTime(RECONNECT_MILLISECONDS, stop.promise, () => undefined);
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

/** What Temporal's own parts have to say goes where everything else goes. Once per process, before any worker. */
export function forwardTemporalLogs(log: Log): void {
  const logger = new DefaultLogger('WARN', ({ level, message, meta }) => {
    log[level === 'ERROR' ? 'error' : 'warn']({ temporal: meta }, message);
  });
  Runtime.install({ logger });
}

async function workUntil(
  stop: Promise<void>,
  { config, log, deployment, ...options }: TemporalWorkerSetup,
): Promise<void> {
  const connection = await NativeConnection.connect(temporalConnection(config));
  try {
    const worker = await Worker.create({
      shutdownForceTime: SHUTDOWN_FORCE_TIME,
      ...options,
      connection,
      namespace: config.TEMPORAL_NAMESPACE,
      interceptors: { activity: [traceActivities] },
      ...versionOf(config, deployment),
    });
    log.info({ taskQueue: options.taskQueue }, 'waiting for work');
    await worker.runUntil(stop);
  } finally {
    await connection.close();
  }
}

/** Worker Deployment Versioning: tasks of a version go to workers of that version only. */
const versionOf = (
  { TEMPORAL_WORKER_BUILD_ID: buildId }: TemporalConfig,
  { name, behavior }: TemporalWorkerSetup['deployment'],
): Pick<WorkerOptions, 'workerDeploymentOptions'> =>
  buildId === undefined
    ? {}
    : {
        workerDeploymentOptions: {
          useWorkerVersioning: true,
          version: { deploymentName: name, buildId },
          defaultVersioningBehavior: behavior,
        },
      };
