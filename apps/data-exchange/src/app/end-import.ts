import { ImportJobStatus } from '@plinth/contracts/data-exchange/shapes';
import { Problem } from '@plinth/kernel/problem';
import { problemOfDatabase } from '@plinth/runtime/postgres/postgres';
import { finalStatus } from '../domain/import-job';
import { LostProgress, requireStored } from '../domain/lost-progress';
import { mayPass } from '../domain/problems';
import { InterruptedReading } from '../formats/interrupted-reading';
import { countCommitted } from './import-in-single-transaction';
import { countRows, withDefaultOptions } from './send-file';
import {
  callerOf,
  countsOf,
  findImportRun,
  type ImportRun,
  type ImportDependencies,
} from './find-import-run';
import { deleteKeysAndFile } from './delete-keys-and-file';
import { sendRange } from './import-range';
import { openRows } from './open-rows';
import { TooLong } from './row-budget';

export interface ImportToEnd {
  tenantId: string;
  jobId: string;
  isCancelled: boolean;
  keysFirst: boolean;
  /** The workflow goes on elsewhere where it is too long for this place. */
  movesOn?: boolean;
  /** How many batches of all ranges are counted, as far as the workflow was told. */
  batches?: number;
}

/**
 * Ends a job whose ranges are all imported, or that was cancelled.
 * @throws LostProgress where the database does not say the same
 */
export async function endImport(
  dependencies: ImportDependencies,
  { tenantId, jobId, isCancelled, keysFirst, batches }: ImportToEnd,
  signal: AbortSignal,
): Promise<void> {
  const run = await findImportRun(dependencies, tenantId, jobId);
  if (!run) return;
  const { imports, ranges, clock } = dependencies;
  if (isCancelled && run.job.cancelRequestedAt === null) throw new LostProgress('Nobody cancelled the job.');
  requireStored('batches', await ranges.countedBatches(tenantId, jobId), batches);
  if (isCancelled) await countUpToSeal(dependencies, run, keysFirst, signal);
  const counts = countsOf(await imports.get(tenantId, jobId));
  if (isCancelled) {
    // A version before may have counted blank rows too.
    const rowsOfFile = await countRows(
      await openRows(run.job, dependencies, { signal }),
      dependencies.budget,
    );
    const totalRows = Math.max(rowsOfFile, counts.totalRows);
    const skippedRows = counts.skippedRows + totalRows - counts.totalRows;
    await imports.finish(tenantId, jobId, {
      status: 'Cancelled',
      counts: { ...counts, totalRows, skippedRows },
      at: clock.now(),
    });
  } else await imports.finish(tenantId, jobId, { status: finalStatus(counts), at: clock.now() });
  await deleteKeysAndFile(dependencies, run.job);
}

/**
 * Ends a job that cannot continue. Rows that are committed stay and are counted; where those of a single transaction are,
 * the import is complete, whatever kept it from ending.
 * @throws what may pass, such as that the owner is away: an end without the count would be final
 */
export async function failImport(
  dependencies: ImportDependencies,
  { tenantId, jobId, reason }: { tenantId: string; jobId: string; reason: string },
  attempt: Attempt,
): Promise<void> {
  const { imports, clock } = dependencies;
  const { signal, isGivenUp } = attempt;
  const run = await unlessItMayPass(() => findImportRun(dependencies, tenantId, jobId), attempt);
  const isSingle = run && withDefaultOptions(run.job.options).onError === 'abort';
  const committed =
    isSingle &&
    !isGivenUp &&
    (await unlessItMayPass(() => countCommitted(dependencies, run, signal), attempt));
  const isUncounted = run && !committed ? await countWhatCanBe(dependencies, run, attempt) : false;
  const job = await imports.get(tenantId, jobId);
  const isCancelled = job.cancelRequestedAt !== null;
  const counted = countsOf(job);
  const { insertedRows, updatedRows, skippedRows, failedRows } = counted;
  const totalRows = insertedRows + updatedRows + skippedRows + failedRows;
  const isComplete = committed && committed.missingRows === undefined;
  const counts = committed ? committed.counts : { ...counted, totalRows };
  const end = isComplete
    ? { status: finalStatus(counts), counts }
    : { counts, ...endWithoutCount(reason, { isSingle: isSingle === true, isUncounted }) };
  await imports.finish(tenantId, jobId, {
    ...end,
    status: isCancelled ? ImportJobStatus.Cancelled : end.status,
    at: clock.now(),
  });
  await deleteKeysAndFile(dependencies, job);
}

/** How an import ends whose rows could not all be counted. */
function endWithoutCount(
  reason: string,
  { isSingle, isUncounted }: { isSingle: boolean; isUncounted: boolean },
): { status: ImportJobStatus; errorMessage: string } {
  const { Completed, Failed } = ImportJobStatus;
  if (!isUncounted) return { status: Failed, errorMessage: reason };
  // Who is told that it failed uploads the file again, and has all of its rows twice.
  return isSingle
    ? { status: Completed, errorMessage: 'All rows were imported, but could not be counted.' }
    : { status: Failed, errorMessage: `${reason} More rows may be imported than are counted.` };
}

export interface Attempt {
  signal: AbortSignal;
  /** What may fail each time it is tried is not tried again. */
  isLast: boolean;
  /** Its processes ended each time, perhaps for the file, which is not read again. */
  isGivenUp?: boolean;
}

/** Does work that a job ends without where it can never succeed, so that it ends at all. */
async function unlessItMayPass<Result>(
  work: () => Promise<Result>,
  { signal, isLast }: Attempt,
): Promise<Result | undefined> {
  try {
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof TooLong) throw error;
    const problem = error instanceof Problem ? error : problemOfDatabase(error);
    const mayFailAgain = !problem || problem instanceof InterruptedReading;
    if (mayFailAgain ? !isLast : mayPass(problem)) throw error;
    return undefined;
  }
}

/**
 * Seals all ranges of a job, and counts of each what was committed before, as far as its file can be read. Returns whether
 * more is committed than is counted.
 */
async function countWhatCanBe(
  dependencies: ImportDependencies,
  run: ImportRun,
  attempt: Attempt,
): Promise<boolean> {
  const { signal, isGivenUp } = attempt;
  const { tenantId, id: jobId } = run.job;
  const ranges = await dependencies.ranges.list(tenantId, jobId);
  let isUncounted = false;
  for (const range of ranges) {
    let lastBatch = range.lastBatch;
    let isCounted = false;
    await unlessItMayPass(async () => {
      lastBatch = await sealRange(dependencies, run, range.number);
      if (isGivenUp) return;
      // The owner gives what it stored of each batch, for which it needs to know no duplicates.
      await countRange(dependencies, { run, range, keysFirst: false, signal }, lastBatch);
      isCounted = true;
    }, attempt);
    isUncounted ||= !isCounted && lastBatch > range.lastBatch;
  }
  // Without ranges nothing is counted, but another run may be about to begin, or have committed all rows.
  if (ranges.length === 0)
    await unlessItMayPass(async () => {
      isUncounted = (await sealRange(dependencies, run, 0)) > 0;
    }, attempt);
  return isUncounted;
}

/** Returns the number of the last batch of a range that is committed. */
const sealRange = ({ owners }: ImportDependencies, { job, definition }: ImportRun, range: number) =>
  owners.seal(definition, { jobId: job.id, range }, callerOf(job));

/** Another run may have committed more than is counted. After sealing nothing is committed, so the count can be completed. */
async function countUpToSeal(
  dependencies: ImportDependencies,
  run: ImportRun,
  keysFirst: boolean,
  signal: AbortSignal,
): Promise<void> {
  for (const range of await dependencies.ranges.list(run.job.tenantId, run.job.id)) {
    signal.throwIfAborted();
    await countRangeUpToSeal(dependencies, { run, range, keysFirst, signal });
  }
}

async function countRangeUpToSeal(
  dependencies: ImportDependencies,
  options: Parameters<typeof sendRange>[1],
): Promise<void> {
  const lastBatch = await sealRange(dependencies, options.run, options.range.number);
  await countRange(dependencies, options, lastBatch);
}

/** @param lastBatch the number of the last one that is committed */
async function countRange(
  dependencies: ImportDependencies,
  options: Parameters<typeof sendRange>[1],
  lastBatch: number,
): Promise<void> {
  if (options.range.lastBatch < lastBatch)
    await sendRange(dependencies, options, ({ number }) => number < lastBatch);
}
