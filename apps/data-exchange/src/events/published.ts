import { exportFinished, importFinished, importUndone } from '@plinth/contracts/data-exchange/events';
import type { Caller } from '@plinth/kernel/caller';
import type { PayloadOf } from '@plinth/kernel/event';
import { appendToOutbox } from '@plinth/runtime/messaging/outbox';
import type { RawStatements } from '@plinth/runtime/postgres/postgres';

interface EndedJob {
  tenantId: string;
  id: string;
  definitionName: string;
  status: string;
  caller: Caller | null;
  createdBy: string;
}

interface EndedImport extends EndedJob {
  totalRows: number;
  insertedRows: number;
  updatedRows: number;
  failedRows: number;
}

interface EndedUndo {
  status: string;
  caller: Caller;
  removedRows: number;
  restoredRows: number;
  keptRows: number;
}

/** Publishes that an export ended, in the transaction that ends it. */
export const publishExportFinished = (tx: RawStatements, job: EndedJob): Promise<void> =>
  appendToOutbox(tx, {
    type: exportFinished,
    tenantId: job.tenantId,
    subject: `ExportJob/${job.id}`,
    payload: {
      jobId: job.id,
      definitionName: job.definitionName,
      status: job.status as PayloadOf<typeof exportFinished>['status'],
      // Whoever hears of the event may not see the rows.
      rowCount: null,
    },
    actor: actorOf(job.caller, job.createdBy),
  });

/** Publishes that an import reached its final state, in the transaction that sets it. */
export const publishImportFinished = (tx: RawStatements, job: EndedImport): Promise<void> =>
  appendToOutbox(tx, {
    type: importFinished,
    tenantId: job.tenantId,
    subject: `ImportJob/${job.id}`,
    payload: {
      jobId: job.id,
      definitionName: job.definitionName,
      status: job.status as PayloadOf<typeof importFinished>['status'],
      totalRows: job.totalRows,
      succeededRows: job.insertedRows + job.updatedRows,
      failedRows: job.failedRows,
    },
    actor: actorOf(job.caller, job.createdBy),
  });

/** Publishes that the undo of an import ended, in the transaction that ends it. */
export const publishImportUndone = (
  tx: RawStatements,
  job: Pick<EndedJob, 'tenantId' | 'id' | 'definitionName' | 'createdBy'>,
  undo: EndedUndo,
): Promise<void> =>
  appendToOutbox(tx, {
    type: importUndone,
    tenantId: job.tenantId,
    subject: `ImportJob/${job.id}`,
    payload: {
      jobId: job.id,
      definitionName: job.definitionName,
      status: undo.status as PayloadOf<typeof importUndone>['status'],
      removedRows: undo.removedRows,
      restoredRows: undo.restoredRows,
      keptRows: undo.keptRows,
    },
    actor: actorOf(undo.caller, job.createdBy),
  });

/** The caller of the job; of an upload that was never executed only the id is stored. */
function actorOf(caller: Caller | null, createdBy: string): { userId: string; userName: string } {
  const { userId, userName } = caller ?? { userId: createdBy, userName: createdBy };
  return { userId, userName };
}
