import { exportFinished, importFinished, importUndone } from '@plinth/contracts/data-exchange/events';
import type { Caller } from '@plinth/kernel/caller';
import type { PayloadOf } from '@plinth/kernel/event';
import { appendToOutbox } from '@plinth/runtime/outbox';
import type { Prisma } from '../generated/client';

type Tx = Prisma.TransactionClient;

/** Tells the others that an export ended, in the transaction that ends it. */
export async function tellExportEnd(tx: Tx, tenantId: string, id: string): Promise<void> {
  const job = await tx.exportJob.findUniqueOrThrow({ where: { tenantId_id: { tenantId, id } } });
  await appendToOutbox(tx, {
    type: exportFinished,
    tenantId,
    subject: `ExportJob/${id}`,
    payload: {
      jobId: id,
      definitionName: job.definitionName,
      status: job.status as PayloadOf<typeof exportFinished>['status'],
      // Everybody hears of it, also who does not see all of the rows.
      rowCount: job.widerPermission === null ? job.rowCount : null,
    },
    actor: actorOf(job.caller, job.createdBy),
  });
}

/** Tells the others that an import came to its final state, in the transaction that brings it there. */
export async function tellImportEnd(tx: Tx, tenantId: string, id: string): Promise<void> {
  const job = await tx.importJob.findUniqueOrThrow({ where: { tenantId_id: { tenantId, id } } });
  await appendToOutbox(tx, {
    type: importFinished,
    tenantId,
    subject: `ImportJob/${id}`,
    payload: {
      jobId: id,
      definitionName: job.definitionName,
      status: job.status as PayloadOf<typeof importFinished>['status'],
      totalRows: job.totalRows,
      succeededRows: job.insertedRows + job.updatedRows,
      failedRows: job.failedRows,
    },
    actor: actorOf(job.caller, job.createdBy),
  });
}

/** Tells the others that the undo of an import ended, in the transaction that ends it. */
export async function tellUndoEnd(tx: Tx, tenantId: string, jobId: string): Promise<void> {
  const job = await tx.importJob.findUniqueOrThrow({ where: { tenantId_id: { tenantId, id: jobId } } });
  const undo = await tx.importUndo.findUniqueOrThrow({ where: { tenantId_jobId: { tenantId, jobId } } });
  const { removedRows, restoredRows, keptRows } = undo;
  await appendToOutbox(tx, {
    type: importUndone,
    tenantId,
    subject: `ImportJob/${jobId}`,
    payload: {
      jobId,
      definitionName: job.definitionName,
      status: undo.status as PayloadOf<typeof importUndone>['status'],
      removedRows,
      restoredRows,
      keptRows,
    },
    actor: actorOf(undo.caller, job.createdBy),
  });
}

/** Who asked for the job; of an upload that was never executed only the id is known. */
function actorOf(caller: Prisma.JsonValue, createdBy: string): { userId: string; userName: string } {
  const { userId, userName } = (caller ?? { userId: createdBy, userName: createdBy }) as unknown as Caller;
  return { userId, userName };
}
