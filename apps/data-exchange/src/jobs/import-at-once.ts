import { finalStatus, noRows } from '../domain/import-job';
import type { StoredFailedRow } from '../store/import-store';
import { add, afterAbort, countRows, sendFile } from './import-plan';
import { findRun, sendPlan, type ImportRunParts } from './import-run';
import { openRows } from './open-rows';

/** Imports all rows of a job in one transaction and ends it; the first batch with a failure leaves nothing behind. */
export async function importAtOnce(
  parts: ImportRunParts,
  tenantId: string,
  jobId: string,
  signal: AbortSignal,
): Promise<void> {
  const run = await findRun(parts, tenantId, jobId);
  if (!run) return;
  const { imports, blobs, clock } = parts;
  const { job } = run;
  let counts = noRows;
  let failedRows: StoredFailedRow[] = [];
  let isCancelled = job.cancelRequestedAt !== null;
  if (!isCancelled) {
    await sendFile({
      ...sendPlan(parts, run, await openRows(job, blobs), signal),
      commit: 'ALL_OR_NOTHING',
      after: 0,
      onResult: async (batch) => {
        counts = add(counts, batch.counts);
        failedRows = batch.failedRows;
        isCancelled = (await imports.get(tenantId, jobId)).cancelRequestedAt !== null;
        return failedRows.length === 0 && !isCancelled;
      },
    });
  }
  if (failedRows.length === 0 && !isCancelled) {
    await imports.finish(tenantId, jobId, { status: finalStatus(counts), counts, at: clock.now() });
  } else {
    const totalRows = await countRows(await openRows(job, blobs));
    await imports.finish(tenantId, jobId, {
      status: isCancelled ? 'Cancelled' : 'Failed',
      counts: afterAbort(totalRows, failedRows.length),
      failedRows,
      at: clock.now(),
    });
  }
  await blobs.delete(job.blobKey);
}
