import { inTime } from '@plinth/runtime/process/in-time';
import type { Log } from '@plinth/runtime/process/log';
import type { Temporal } from '@plinth/runtime/temporal/temporal';
import { unavailable } from '@plinth/kernel/problem';
import { WorkflowExecutionAlreadyStartedError, WorkflowIdReusePolicy } from '@temporalio/client';
import type { ExportStore } from '../store/export-store';
import type { ImportStore } from '../store/import-store';
import type { ImportUndoStore } from '../store/import-undo-store';
import { JOB_BATCH_SIZE } from '../store/job-records';
import type { OverdueJob, OverdueJobStore } from '../store/overdue-job-store';

export interface JobKey {
  tenantId: string;
  id: string;
}

/** The undo of a job that was requested at this time. */
export interface UndoKey extends JobKey {
  requestedAt: Date;
}

/** Starts the workflows of jobs. The row of a job is enough: a start that was lost is repeated from it. */
export interface JobStarter {
  /** @throws Problem `overloaded` while Temporal does not respond: then no job should be accepted. */
  requireReady(): Promise<void>;
  startImport(job: JobKey): Promise<void>;
  startExport(job: JobKey): Promise<void>;
  /** Starts the undo of an import; one that failed and is requested again is another workflow. */
  startUndo(job: UndoKey): Promise<void>;
  /** Starts the jobs that should run and do not. */
  startOverdueJobs(): Promise<void>;
  /** Whether a start failed here that was not repeated yet, or there may be more jobs than were listed. */
  readonly hasMoreToStart: boolean;
}

const SILENCE_MILLISECONDS = 60_000;
const READY_MILLISECONDS_MAX = 3_000;

interface Dependencies {
  config: { EXCHANGE_TASK_QUEUE: string };
  temporal: Temporal;
  imports: ImportStore;
  undos: ImportUndoStore;
  exports: ExportStore;
  overdueJobs: OverdueJobStore;
  log: Log;
}

interface Start {
  workflow: string;
  workflowId: string;
  noteStart: ImportStore['recordStart'];
}

export function jobStarter({
  config,
  temporal,
  imports,
  undos,
  exports,
  overdueJobs,
  log,
}: Dependencies): JobStarter {
  const start = async ({ tenantId, id }: JobKey, { workflow, workflowId, noteStart }: Start) => {
    const client = await temporal.client();
    try {
      await client.workflow.start(workflow, {
        taskQueue: config.EXCHANGE_TASK_QUEUE,
        workflowId,
        // One that ended says nothing of the job, which a restored database may have unfinished; one that runs is refused.
        workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
        // Its own steps too, or a job would begin behind the steps of all jobs of another tenant.
        priority: { fairnessKey: tenantId },
        args: [tenantId, id],
      });
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
    await noteStart(tenantId, id, new Date());
  };
  let failures = 0;
  let repeated = 0;
  let hasMore = false;
  const tryStart = async (job: JobKey, workflow: Start): Promise<void> => {
    await start(job, workflow).catch((error: unknown) => {
      failures++;
      log.warn({ err: error, job: job.id }, 'job start failed; will retry');
    });
  };
  const startImport = (job: JobKey) =>
    tryStart(job, { workflow: 'executeImport', workflowId: job.id, noteStart: imports.recordStart });
  const startExport = (job: JobKey) =>
    tryStart(job, { workflow: 'executeExport', workflowId: job.id, noteStart: exports.recordStart });
  // The workflow that failed may not have ended yet when the undo is requested again.
  const startUndo = (job: UndoKey) =>
    tryStart(job, {
      workflow: 'undoImport',
      workflowId: `${job.id}-undo-${job.requestedAt.getTime()}`,
      noteStart: undos.recordStart,
    });
  const startOverdue = (job: OverdueJob): Promise<void> => {
    if (job.kind === 'undo') return startUndo(job);
    return job.kind === 'import' ? startImport(job) : startExport(job);
  };

  return {
    async requireReady() {
      try {
        await inTime(READY_MILLISECONDS_MAX, temporal.check(), () => {
          throw new Error('Temporal did not respond.');
        });
      } catch (error) {
        throw unavailable('The server for long-running work does not respond; try again.', error);
      }
    },
    startImport,
    startExport,
    startUndo,
    async startOverdueJobs() {
      const silentSince = new Date(Date.now() - SILENCE_MILLISECONDS);
      const known = failures;
      const jobs = await overdueJobs.list(silentSince);
      repeated = known;
      hasMore = jobs.length >= JOB_BATCH_SIZE;
      for (const job of jobs) await startOverdue(job);
    },
    get hasMoreToStart() {
      return failures > repeated || hasMore;
    },
  };
}
