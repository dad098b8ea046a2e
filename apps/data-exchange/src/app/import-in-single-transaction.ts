import { finalStatus, noRows, type RowCounts } from '../domain/import-job';
import type { FailedRowWithCells } from '../domain/failed-row';
import { addCounts, commonSendOptions, countRows, countsAfterAbort, sendFile } from './send-file';
import { callerOf, findImportRun, type ImportDependencies, type ImportRun } from './find-import-run';
import { openRows } from './open-rows';

interface Result {
  counts: RowCounts;
  /** Of the batch for which all rows were rolled back. */
  failedRows: FailedRowWithCells[];
  isCancelled: boolean;
}

/** Imports all rows of a job in a single transaction and ends it; the first batch with a failed row rolls back all. */
export async function importInSingleTransaction(
  dependencies: ImportDependencies,
  tenantId: string,
  jobId: string,
  signal: AbortSignal,
): Promise<void> {
  const run = await findImportRun(dependencies, tenantId, jobId);
  if (!run) return;
  const { imports, owners, blobs, clock } = dependencies;
  const { job, definition } = run;
  const isCancelled = async () => (await imports.get(tenantId, jobId)).cancelRequestedAt !== null;
  let result: Result = { counts: noRows, failedRows: [], isCancelled: job.cancelRequestedAt !== null };
  if (!result.isCancelled) result = await sendAll(dependencies, run, isCancelled, signal);
  let isCommitted = result.failedRows.length === 0 && !result.isCancelled;
  if (result.isCancelled) {
    // Another run of the job may have committed all rows, which are counted then, and may commit nothing from now on.
    isCommitted = (await owners.seal(definition, { jobId, range: 0 }, callerOf(job))) > 0;
    if (isCommitted)
      ({ counts: result.counts } = await sendAll(dependencies, run, async () => false, signal));
  }
  const { counts, failedRows } = result;
  await imports.finish(tenantId, jobId, {
    status: result.isCancelled ? 'Cancelled' : finalStatus(counts, !isCommitted),
    ...(isCommitted
      ? { counts }
      : {
          counts: countsAfterAbort(await countRows(await openRows(job, blobs)), failedRows.length),
          failedRows,
        }),
    at: clock.now(),
  });
  await blobs.delete(job.blobKey);
}

/** Sends all rows of a job, until one fails or `isCancelled` says so; batches that were committed give their stored results. */
async function sendAll(
  dependencies: ImportDependencies,
  run: ImportRun,
  isCancelled: () => Promise<boolean>,
  signal: AbortSignal,
): Promise<Result> {
  const result: Result = { counts: noRows, failedRows: [], isCancelled: false };
  await sendFile({
    ...commonSendOptions(dependencies, run, await openRows(run.job, dependencies.blobs), signal),
    commit: 'ALL_OR_NOTHING',
    after: 0,
    onResult: async (batch) => {
      result.counts = addCounts(result.counts, batch.counts);
      result.failedRows = batch.failedRows;
      result.isCancelled = await isCancelled();
      return result.failedRows.length === 0 && !result.isCancelled;
    },
  });
  return result;
}
