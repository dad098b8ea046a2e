import { ImportJobStatus } from '@plinth/contracts/data-exchange/shapes';
import { finalStatus, noRows, type RowCounts } from '../domain/import-job';
import { noRoomForFailedRows, tooManyFailedRows } from '../domain/problems';
import {
  addCounts,
  commonSendOptions,
  countRows,
  countsAfterAbort,
  requireAllRows,
  sendFile,
  type SentFile,
} from './send-file';
import { callerOf, findImportRun, type ImportDependencies, type ImportRun } from './find-import-run';
import { bytesOfParts, type FailedPart } from '../store/failed-row-store';
import { deleteKeysAndFile } from './delete-keys-and-file';
import { keepLayout } from './keep-layout';
import { openRows } from './open-rows';
import { NoPlace, UncountedRows } from './uncounted-rows';

interface Sent extends SentFile {
  counts: RowCounts;
  /** Of the batch for which all rows were rolled back. */
  failedParts: FailedPart[];
}

const nothing: Sent = { counts: noRows, failedParts: [], end: 'stopped', missingRows: undefined };

/** Imports all rows of a job in a single transaction and ends it; the first batch with a failed row rolls back all. */
export async function importInSingleTransaction(
  dependencies: ImportDependencies,
  tenantId: string,
  jobId: string,
  signal: AbortSignal,
): Promise<void> {
  const run = await findImportRun(dependencies, tenantId, jobId);
  if (!run) return;
  const { job } = run;
  // Of what it sends the owner keeps results too.
  if (job.cancelRequestedAt === null && !(await dependencies.kept.hasRoomNow(tenantId, 1)))
    throw noRoomForFailedRows();
  const failedRows = new UncountedRows(dependencies.largeBatches, { tenantId, signal });
  try {
    await importAllOrNone(dependencies, { run, failedRows, signal });
  } finally {
    failedRows.release();
  }
}

interface Sending {
  run: ImportRun;
  /** Takes the rows that fail, where they are needed. */
  failedRows?: UncountedRows;
  signal: AbortSignal;
}

async function importAllOrNone(dependencies: ImportDependencies, sending: Required<Sending>): Promise<void> {
  const { run, failedRows, signal } = sending;
  const { imports, kept, clock } = dependencies;
  const { job } = run;
  const { tenantId, id: jobId } = job;
  let isCancelled = job.cancelRequestedAt !== null;
  const shouldContinue = async () => {
    isCancelled = (await imports.get(tenantId, jobId)).cancelRequestedAt !== null;
    return !isCancelled;
  };
  const send = async (commit: 'ALL_OR_NOTHING' | 'NEVER') => {
    const trySend = () =>
      sendAll(dependencies, { ...sending, commit }, async (isWhole) => isWhole && shouldContinue());
    const result = await trySend().catch(async (error: unknown) => {
      if (!(error instanceof NoPlace)) throw error;
      // The owner rolls back first: others wait for the rows of its transaction. With the place, it begins again.
      failedRows.take();
      await failedRows.waitForRoom();
      return trySend();
    });
    requireAllRows(result);
    return result;
  };
  let sent = isCancelled ? nothing : await send('ALL_OR_NOTHING');
  let isCommitted = sent.end === 'sent';
  if (!isCommitted) {
    // Another run of the job may have committed all rows, which are counted then. From now on none commits any.
    const committed = await countCommitted(dependencies, run, signal);
    isCommitted = committed !== undefined;
    if (committed) {
      requireAllRows(committed);
      sent = { ...nothing, counts: committed.counts };
    }
    // Another run found rows that fail, and may have ended before they were stored: they are found again.
    else if (sent.end === 'sealed' && (await shouldContinue())) sent = await send('NEVER');
  }
  const { counts } = sent;
  const hasRoom = sent.failedParts.length === 0 || (await kept.hasRoomNow(tenantId, 1));
  const failedParts = hasRoom ? sent.failedParts : [];
  const end = isCommitted
    ? { status: finalStatus(counts), counts }
    : {
        status: ImportJobStatus.Failed,
        counts: countsAfterAbort(
          await countRows(await openRows(job, dependencies, { signal }), dependencies.budget),
          counts.failedRows,
        ),
        failedParts,
        ...(hasRoom ? {} : { errorMessage: tooManyFailedRows().detail }),
      };
  const status = isCancelled ? ImportJobStatus.Cancelled : end.status;
  await imports.finish(tenantId, jobId, { ...end, status, at: clock.now() });
  kept.recordWritten(tenantId, bytesOfParts(failedParts));
  await deleteKeysAndFile(dependencies, job);
}

/**
 * What an import in a single transaction committed that could not be ended; undefined where it committed nothing, and
 * commits nothing any more.
 */
export async function countCommitted(
  dependencies: ImportDependencies,
  run: ImportRun,
  signal: AbortSignal,
): Promise<Pick<Sent, 'counts' | 'missingRows'> | undefined> {
  const range = { jobId: run.job.id, range: 0 };
  if ((await dependencies.owners.seal(run.definition, range, callerOf(run.job))) === 0) return undefined;
  return sendAll(dependencies, { run, commit: 'ALL_OR_NOTHING', signal }, async () => true);
}

/** Sends all rows of a job until one of them fails; batches that were committed before give their stored results. */
async function sendAll(
  dependencies: ImportDependencies,
  { run, failedRows, commit, signal }: Sending & { commit: 'ALL_OR_NOTHING' | 'NEVER' },
  shouldContinue: (isWhole: boolean) => Promise<boolean>,
): Promise<Sent> {
  let counts = noRows;
  const file = await openRows(run.job, dependencies, { signal });
  await keepLayout(dependencies, run, file);
  const sent = await sendFile({
    ...commonSendOptions(dependencies, run, file, signal),
    commit,
    after: 0,
    failedRows: failedRows?.withoutWaiting(),
    onResult: async (batch) => {
      counts = addCounts(counts, batch.counts);
      return batch.counts.failedRows === 0 && (await shouldContinue(batch.isWhole));
    },
  });
  return { counts, failedParts: failedRows?.take() ?? [], ...sent };
}
