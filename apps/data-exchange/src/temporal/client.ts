import type { Log } from '@plinth/runtime/log';
import type { Temporal } from '@plinth/runtime/temporal';
import { unavailable } from '@plinth/kernel/problem';
import { WorkflowExecutionAlreadyStartedError, WorkflowIdReusePolicy } from '@temporalio/client';
import type { ExportStore } from '../store/export-store';
import type { ImportStore } from '../store/import-store';
import type { UndoStore } from '../store/undo-store';

export interface JobKey {
  tenantId: string;
  id: string;
}

/** The undo of a job that was asked for at this time. */
export interface UndoKey extends JobKey {
  requestedAt: Date;
}

/** Has jobs worked off by Temporal. The job's row is the promise; a start that got lost is made up for. */
export interface JobStarter {
  /** @throws Problem `overloaded` while Temporal does not answer: then nothing should be promised. */
  requireReady(): Promise<void>;
  startImport(job: JobKey): Promise<void>;
  startExport(job: JobKey): Promise<void>;
  /** Undoes an import; one that failed and is asked for again is another run. */
  startUndo(job: UndoKey): Promise<void>;
  /** Starts what should run and does not. */
  sweep(): Promise<void>;
}

const SILENCE_MILLISECONDS = 60_000;
const READY_MILLISECONDS_MAX = 3_000;

interface Parts {
  config: { EXCHANGE_TASK_QUEUE: string };
  temporal: Temporal;
  imports: ImportStore;
  undos: UndoStore;
  exports: ExportStore;
  log: Log;
}

interface Start {
  workflow: string;
  workflowId: string;
  noteStart: ImportStore['noteStart'];
}

export function jobStarter({ config, temporal, imports, undos, exports, log }: Parts): JobStarter {
  const start = async ({ tenantId, id }: JobKey, { workflow, workflowId, noteStart }: Start) => {
    const client = await temporal.client();
    try {
      await client.workflow.start(workflow, {
        taskQueue: config.EXCHANGE_TASK_QUEUE,
        workflowId,
        workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY,
        args: [tenantId, id],
      });
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
    await noteStart(tenantId, id, new Date());
  };
  const startLater = async (job: JobKey, what: Start): Promise<void> => {
    await start(job, what).catch((error: unknown) =>
      log.warn({ err: error, job: job.id }, 'a job could not be started; it will be'),
    );
  };
  const startImport = (job: JobKey) =>
    startLater(job, { workflow: 'executeImport', workflowId: job.id, noteStart: imports.noteStart });
  const startExport = (job: JobKey) =>
    startLater(job, { workflow: 'executeExport', workflowId: job.id, noteStart: exports.noteStart });
  // The run that failed may still be about to end when it is asked for again.
  const startUndo = (job: UndoKey) =>
    startLater(job, {
      workflow: 'undoImport',
      workflowId: `${job.id}-undo-${job.requestedAt.getTime()}`,
      noteStart: undos.noteStart,
    });

  return {
    async requireReady() {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<never>((_resolve, reject) => {
        timer = setTimeout(() => reject(new Error('no answer')), READY_MILLISECONDS_MAX);
      });
      try {
        await Promise.race([temporal.check(), late]);
      } catch (error) {
        throw unavailable('The server for long-running work does not answer; try again.', error);
      } finally {
        clearTimeout(timer);
      }
    },
    startImport,
    startExport,
    startUndo,
    async sweep() {
      const silentSince = new Date(Date.now() - SILENCE_MILLISECONDS);
      for (const job of await imports.overdue(silentSince)) await startImport(job);
      for (const job of await exports.overdue(silentSince)) await startExport(job);
      for (const job of await undos.overdue(silentSince)) await startUndo(job);
    },
  };
}
