import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import type { BenchLine } from './bench-line.ts';
import { mapFile, signInToTenant, waitForStatus } from './exchange-jobs.ts';
import { writeCsv } from './exchange-rows.ts';
import { workerStarter } from './import-workers.ts';
import type { BenchTarget } from './platform.ts';
import { inTemporaryFolder } from './temporary-folder.ts';
import { seconds } from './times.ts';

const POLL_MILLISECONDS = 25;
/** Until its heartbeats follow each other at their usual distance. */
const SETTLED_MILLISECONDS = 2_000;
const GOAL_SECONDS = 5;

/**
 * How long after the death of its worker an import is continued by another one, and whether a live one was given up. What
 * took longer than it should is told step by step.
 */
export const benchCrash = (
  target: BenchTarget,
  { rowCount, crashes }: { rowCount: number; crashes: number },
): Promise<BenchLine[]> =>
  inTemporaryFolder(async (folder) => {
    const file = join(folder, 'bench.csv');
    await writeCsv(file, rowCount);
    const temporal = await connectToTemporal(target);
    const startWorker = workerStarter(target);
    const further = [startWorker(), startWorker()];
    const delays: number[] = [];
    const details: string[] = [];
    let falseAlarms = 0;
    try {
      while (delays.length < crashes) {
        // One that still starts could not continue anything.
        await untilPolling(temporal, further);
        const client = await signInToTenant(target, randomUUID());
        const jobId = await mapFile(client, file);
        await client.call('POST', `/imports/${jobId}/execute`);
        const before = await rangeOf(temporal, jobId, () => true);
        await pause(SETTLED_MILLISECONDS);
        const running = await rangeOf(temporal, jobId, () => true);
        falseAlarms += running.attempt - before.attempt;
        const killedAt = Date.now();
        process.kill(running.pid, 'SIGKILL');
        const steps: string[] = [];
        const again = await rangeOf(
          temporal,
          jobId,
          ({ attempt }) => attempt > running.attempt,
          (step) => {
            const after = seconds(Date.now() - killedAt);
            if (!steps.at(-1)?.endsWith(step)) steps.push(`${after}: ${step}`);
          },
        );
        const delay = (again.startedAt - killedAt) / 1_000;
        delays.push(delay);
        if (delay > GOAL_SECONDS) details.push(`killed ${running.pid}; ${steps.join('; ')}`);
        const killed = further.findIndex(({ pid }) => pid === running.pid);
        if (killed >= 0) further[killed] = startWorker();
        await waitForStatus(client, `/imports/${jobId}`, ['Completed']);
      }
    } finally {
      for (const worker of further) worker.kill('SIGKILL');
      await temporal.connection.close();
    }
    return [
      {
        job: `continuation of ${rowCount.toLocaleString('en')} rows after the death of their worker`,
        measured: `${delays.map((delay) => seconds(delay * 1_000)).join(', ')}, ${falseAlarms} false alarms`,
        ratio: Math.max(...delays) / GOAL_SECONDS,
        goal: 1,
        details,
      },
    ];
  });

/** Waits until these workers ask for work of both queues. */
async function untilPolling(
  { workflowService }: Client,
  workers: readonly { pid?: number | undefined }[],
): Promise<void> {
  for (const name of TASK_QUEUES) {
    for (;;) {
      const { pollers } = await workflowService.describeTaskQueue({
        namespace: NAMESPACE,
        taskQueue: { name },
        taskQueueType: ACTIVITIES,
      });
      const pids = pollers.map(({ identity }) => Number(identity?.split('@')[0]));
      if (workers.every(({ pid }) => pids.includes(pid!))) break;
      await pause(POLL_MILLISECONDS);
    }
  }
}

async function connectToTemporal({ processes }: BenchTarget): Promise<Client> {
  const worker = processes.find(({ name }) => name === 'data-exchange-worker');
  const environment = readFileSync(`/proc/${worker!.pid}/environ`, 'utf8').split('\0');
  const address = environment.find((entry) => entry.startsWith('TEMPORAL_ADDRESS='))!.split('=')[1]!;
  return new Client({ connection: await Connection.connect({ address }) });
}

/** The attempt that imports rows of a job, as soon as it is in a worker and fits; `onState` is told what it sees before. */
async function rangeOf(
  { workflow }: Client,
  jobId: string,
  fits: (range: { attempt: number }) => boolean,
  onState: (state: string) => void = () => undefined,
): Promise<{ attempt: number; pid: number; startedAt: number }> {
  for (;;) {
    const { raw } = await workflow.getHandle(jobId).describe();
    const activity = raw.pendingActivities?.find(({ activityType }) => activityType?.name === 'importRange');
    const attempt = activity?.attempt ?? 0;
    onState(
      `attempt ${attempt}, state ${activity?.state}, worker ${activity?.lastWorkerIdentity}, ${activity?.lastFailure?.message}`,
    );
    if (activity?.lastStartedTime && activity.state === STARTED && fits({ attempt })) {
      const { seconds: whole, nanos } = activity.lastStartedTime;
      return {
        attempt,
        pid: Number(activity.lastWorkerIdentity?.split('@')[0]),
        startedAt: Number(whole) * 1_000 + (nanos ?? 0) / 1e6,
      };
    }
    await pause(POLL_MILLISECONDS);
  }
}

/** `PENDING_ACTIVITY_STATE_STARTED`. */
const STARTED = 2;
/** `TASK_QUEUE_TYPE_ACTIVITY`. */
const ACTIVITIES = 2;
const NAMESPACE = 'default';
const TASK_QUEUES = ['data-exchange', 'data-exchange-short'];
