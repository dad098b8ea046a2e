import { finalStatus, noRows } from '../domain/import-job';
import type { FailedRowWithCells } from '../domain/failed-row';
import { addCounts, commonSendOptions, countRows, countsAfterAbort, sendFile } from './send-file';
import { findImportRun, type ImportDependencies } from './find-import-run';
import { openRows } from './open-rows';

/** Imports all rows of a job in a single transaction and ends it; the first batch with a failed row rolls back all. */
export async function importInSingleTransaction(
  dependencies: ImportDependencies,
  tenantId: string,
  jobId: string,
  signal: AbortSignal,
): Promise<void> {
  const run = await findImportRun(dependencies, tenantId, jobId);
  if (!run) return;
  const { imports, blobs, clock } = dependencies;
  const { job } = run;
  let counts = noRows;
  let failedRows: FailedRowWithCells[] = [];
  let isCancelled = job.cancelRequestedAt !== null;
  if (!isCancelled) {
    await sendFile({
      ...commonSendOptions(dependencies, run, await openRows(job, blobs), signal),
      commit: 'ALL_OR_NOTHING',
      after: 0,
      onResult: async (batch) => {
        counts = addCounts(counts, batch.counts);
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
      counts: countsAfterAbort(totalRows, failedRows.length),
      failedRows,
      at: clock.now(),
    });
  }
  await blobs.delete(job.blobKey);
}
