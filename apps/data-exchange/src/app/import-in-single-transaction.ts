import { ImportJobStatus } from '@plinth/contracts/data-exchange/shapes';
import { finalStatus, noRows, type RowCounts } from '../domain/import-job';
import type { FailedRowWithCells } from '../domain/failed-row';
import type { SendEnd } from '../grpc/send-rows';
import { addCounts, commonSendOptions, countRows, countsAfterAbort, sendFile } from './send-file';
import { callerOf, findImportRun, type ImportDependencies, type ImportRun } from './find-import-run';
import { openRows } from './open-rows';

interface Sent {
  counts: RowCounts;
  /** Of the batch for which all rows were rolled back. */
  failedRows: FailedRowWithCells[];
  end: SendEnd;
}

const nothing: Sent = { counts: noRows, failedRows: [], end: 'stopped' };

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
  let isCancelled = job.cancelRequestedAt !== null;
  const shouldContinue = async () => {
    isCancelled = (await imports.get(tenantId, jobId)).cancelRequestedAt !== null;
    return !isCancelled;
  };
  const send = (commit: 'ALL_OR_NOTHING' | 'NEVER', shouldContinueAfter = shouldContinue) =>
    sendAll(dependencies, { run, commit, signal }, shouldContinueAfter);
  let sent = isCancelled ? nothing : await send('ALL_OR_NOTHING');
  let isCommitted = sent.end === 'sent';
  if (!isCommitted) {
    // Another run of the job may have committed all rows, which are counted then. From now on none commits any.
    const committed = await countCommitted(dependencies, run, signal);
    isCommitted = committed !== undefined;
    if (committed) sent = { ...nothing, counts: committed };
    // Another run found rows that fail, and may have ended before they were stored: they are found again.
    else if (sent.end === 'sealed' && (await shouldContinue())) sent = await send('NEVER');
  }
  const { counts, failedRows } = sent;
  const end = isCommitted
    ? { status: finalStatus(counts), counts }
    : {
        status: ImportJobStatus.Failed,
        counts: countsAfterAbort(await countRows(await openRows(job, blobs, { signal })), failedRows.length),
        failedRows,
      };
  const status = isCancelled ? ImportJobStatus.Cancelled : end.status;
  await imports.finish(tenantId, jobId, { ...end, status, at: clock.now() });
  await blobs.delete(job.blobKey);
}

/**
 * What an import in a single transaction committed that could not be ended; undefined where it committed nothing, and
 * commits nothing any more.
 */
export async function countCommitted(
  dependencies: ImportDependencies,
  run: ImportRun,
  signal: AbortSignal,
): Promise<RowCounts | undefined> {
  const range = { jobId: run.job.id, range: 0 };
  if ((await dependencies.owners.seal(run.definition, range, callerOf(run.job))) === 0) return undefined;
  return (await sendAll(dependencies, { run, commit: 'ALL_OR_NOTHING', signal }, async () => true)).counts;
}

/** Sends all rows of a job until one of them fails; batches that were committed before give their stored results. */
async function sendAll(
  dependencies: ImportDependencies,
  { run, commit, signal }: { run: ImportRun; commit: 'ALL_OR_NOTHING' | 'NEVER'; signal: AbortSignal },
  shouldContinue: () => Promise<boolean>,
): Promise<Sent> {
  let counts = noRows;
  let failedRows: FailedRowWithCells[] = [];
  const end = await sendFile({
    ...commonSendOptions(dependencies, run, await openRows(run.job, dependencies.blobs, { signal }), signal),
    commit,
    after: 0,
    onResult: async (batch) => {
      counts = addCounts(counts, batch.counts);
      ({ failedRows } = batch);
      return failedRows.length === 0 && (await shouldContinue());
    },
  });
  return { counts, failedRows, end };
}
