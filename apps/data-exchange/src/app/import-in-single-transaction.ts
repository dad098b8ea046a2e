import { ImportJobStatus } from '@plinth/contracts/data-exchange/shapes';
import { finalStatus, noRows, type RowCounts } from '../domain/import-job';
import type { FailedRowWithCells } from '../domain/failed-row';
import { addCounts, commonSendOptions, countRows, countsAfterAbort, sendFile } from './send-file';
import { callerOf, findImportRun, type ImportDependencies, type ImportRun } from './find-import-run';
import { openRows } from './open-rows';

interface Sent {
  counts: RowCounts;
  /** Of the batch for which all rows were rolled back. */
  failedRows: FailedRowWithCells[];
  isCommitted: boolean;
}

const nothing: Sent = { counts: noRows, failedRows: [], isCommitted: false };

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
  let isCancelled = job.cancelRequestedAt !== null;
  const shouldContinue = async () => {
    isCancelled = (await imports.get(tenantId, jobId)).cancelRequestedAt !== null;
    return !isCancelled;
  };
  let sent = isCancelled ? nothing : await sendAll(dependencies, run, shouldContinue, signal);
  if (!sent.isCommitted) {
    // Another run of the job may have committed all rows, which are counted then. From now on none commits any.
    const lastBatch = await owners.seal(definition, { jobId, range: 0 }, callerOf(job));
    if (lastBatch > 0) sent = await sendAll(dependencies, run, async () => true, signal);
  }
  const { counts, failedRows, isCommitted } = sent;
  const end = isCommitted
    ? { status: finalStatus(counts), counts }
    : {
        status: ImportJobStatus.Failed,
        counts: countsAfterAbort(await countRows(await openRows(job, blobs)), failedRows.length),
        failedRows,
      };
  const status = isCancelled ? ImportJobStatus.Cancelled : end.status;
  await imports.finish(tenantId, jobId, { ...end, status, at: clock.now() });
  await blobs.delete(job.blobKey);
}

/** Sends all rows of a job until one of them fails; batches that were committed before give their stored results. */
async function sendAll(
  dependencies: ImportDependencies,
  run: ImportRun,
  shouldContinue: () => Promise<boolean>,
  signal: AbortSignal,
): Promise<Sent> {
  let counts = noRows;
  let failedRows: FailedRowWithCells[] = [];
  const end = await sendFile({
    ...commonSendOptions(dependencies, run, await openRows(run.job, dependencies.blobs), signal),
    commit: 'ALL_OR_NOTHING',
    after: 0,
    onResult: async (batch) => {
      counts = addCounts(counts, batch.counts);
      ({ failedRows } = batch);
      return failedRows.length === 0 && (await shouldContinue());
    },
  });
  return { counts, failedRows, isCommitted: end === 'sent' };
}
