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

const CRASHES = 5;
const POLL_MILLISECONDS = 25;
/** Until its heartbeats follow each other at their usual distance. */
const SETTLED_MILLISECONDS = 2_000;
const GOAL_SECONDS = 5;

/** How long after the death of its worker an import is continued by another one, and whether a live one was given up. */
export const benchCrash = (target: BenchTarget, rowCount: number): Promise<BenchLine[]> =>
  inTemporaryFolder(async (folder) => {
    const file = join(folder, 'bench.csv');
    await writeCsv(file, rowCount);
    const temporal = await connectToTemporal(target);
    const startWorker = workerStarter(target);
    const further = [startWorker(), startWorker()];
    const delays: number[] = [];
    let falseAlarms = 0;
    try {
      while (delays.length < CRASHES) {
        const client = await signInToTenant(target, randomUUID());
        const jobId = await mapFile(client, file);
        await client.call('POST', `/imports/${jobId}/execute`);
        const before = await rangeOf(temporal, jobId, () => true);
        await pause(SETTLED_MILLISECONDS);
        const running = await rangeOf(temporal, jobId, () => true);
        falseAlarms += running.attempt - before.attempt;
        const killedAt = Date.now();
        process.kill(running.pid, 'SIGKILL');
        const again = await rangeOf(temporal, jobId, (range) => range.attempt > running.attempt);
        delays.push((again.startedAt - killedAt) / 1_000);
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
      },
    ];
  });

async function connectToTemporal({ processes }: BenchTarget): Promise<Client> {
  const worker = processes.find(({ name }) => name === 'data-exchange-worker');
  const environment = readFileSync(`/proc/${worker!.pid}/environ`, 'utf8').split('\0');
  const address = environment.find((entry) => entry.startsWith('TEMPORAL_ADDRESS='))!.split('=')[1]!;
  return new Client({ connection: await Connection.connect({ address }) });
}

/** The attempt that imports rows of a job, as soon as it is in a worker and fits. */
async function rangeOf(
  { workflow }: Client,
  jobId: string,
  fits: (range: { attempt: number }) => boolean,
): Promise<{ attempt: number; pid: number; startedAt: number }> {
  for (;;) {
    const { raw } = await workflow.getHandle(jobId).describe();
    const activity = raw.pendingActivities?.find(({ activityType }) => activityType?.name === 'importRange');
    const attempt = activity?.attempt ?? 0;
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
