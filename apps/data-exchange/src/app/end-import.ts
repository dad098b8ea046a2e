import { ImportJobStatus } from '@plinth/contracts/data-exchange/shapes';
import { Problem } from '@plinth/kernel/problem';
import { problemOfDatabase } from '@plinth/runtime/postgres/postgres';
import { finalStatus } from '../domain/import-job';
import { mayPass } from '../domain/problems';
import { InterruptedReading } from '../formats/interrupted-reading';
import type { ImportJob } from '../store/import-store';
import { countCommitted } from './import-in-single-transaction';
import { countRows, withDefaultOptions } from './send-file';
import {
  callerOf,
  countsOf,
  findImportRun,
  type ImportRun,
  type ImportDependencies,
} from './find-import-run';
import { sendRange } from './import-range';
import { openRows } from './open-rows';

export interface ImportToEnd {
  tenantId: string;
  jobId: string;
  isCancelled: boolean;
  keysFirst: boolean;
}

/** Ends a job whose ranges are all imported, or that was cancelled. */
export async function endImport(
  dependencies: ImportDependencies,
  { tenantId, jobId, isCancelled, keysFirst }: ImportToEnd,
  signal: AbortSignal,
): Promise<void> {
  const run = await findImportRun(dependencies, tenantId, jobId);
  if (!run) return;
  const { imports, clock } = dependencies;
  if (isCancelled) await countUpToSeal(dependencies, run, keysFirst, signal);
  const counts = countsOf(await imports.get(tenantId, jobId));
  if (isCancelled) {
    const totalRows = await countRows(await openRows(run.job, dependencies.blobs, { signal }));
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
  const { signal } = attempt;
  const run = await unlessItMayPass(() => findImportRun(dependencies, tenantId, jobId), attempt);
  const isSingle = run && withDefaultOptions(run.job.options).onError === 'abort';
  const committed =
    isSingle && (await unlessItMayPass(() => countCommitted(dependencies, run, signal), attempt));
  if (run && !committed) await countWhatCanBe(dependencies, run, attempt);
  const job = await imports.get(tenantId, jobId);
  const isCancelled = job.cancelRequestedAt !== null;
  const counted = countsOf(job);
  const { insertedRows, updatedRows, skippedRows, failedRows } = counted;
  const totalRows = insertedRows + updatedRows + skippedRows + failedRows;
  const end = committed
    ? { status: finalStatus(committed), counts: committed }
    : { status: ImportJobStatus.Failed, counts: { ...counted, totalRows }, errorMessage: reason };
  await imports.finish(tenantId, jobId, {
    ...end,
    status: isCancelled ? ImportJobStatus.Cancelled : end.status,
    at: clock.now(),
  });
  await deleteKeysAndFile(dependencies, job);
}

export interface Attempt {
  signal: AbortSignal;
  /** What may fail each time it is tried is not tried again. */
  isLast: boolean;
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
    const problem = error instanceof Problem ? error : problemOfDatabase(error);
    const mayFailAgain = !problem || problem instanceof InterruptedReading;
    if (mayFailAgain ? !isLast : mayPass(problem)) throw error;
    return undefined;
  }
}

/** Seals all ranges of a job, and counts of each what was committed before, as far as its file can be read. */
async function countWhatCanBe(
  dependencies: ImportDependencies,
  run: ImportRun,
  attempt: Attempt,
): Promise<void> {
  const { signal } = attempt;
  const { tenantId, id: jobId } = run.job;
  const ranges = await dependencies.ranges.list(tenantId, jobId);
  // The owner gives what it stored of each batch, for which it needs to know no duplicates.
  for (const range of ranges)
    await unlessItMayPass(
      () => countRangeUpToSeal(dependencies, { run, range, keysFirst: false, signal }),
      attempt,
    );
  // Without ranges nothing is counted, but another run may be about to begin.
  if (ranges.length === 0)
    await unlessItMayPass(
      () => dependencies.owners.seal(run.definition, { jobId, range: 0 }, callerOf(run.job)),
      attempt,
    );
}

/** Another run may have committed more than is counted. After sealing nothing is committed, so the count can be completed. */
async function countUpToSeal(
  dependencies: ImportDependencies,
  run: ImportRun,
  keysFirst: boolean,
  signal: AbortSignal,
): Promise<void> {
  for (const range of await dependencies.ranges.list(run.job.tenantId, run.job.id))
    await countRangeUpToSeal(dependencies, { run, range, keysFirst, signal });
}

async function countRangeUpToSeal(
  dependencies: ImportDependencies,
  options: Parameters<typeof sendRange>[1],
): Promise<void> {
  const { run, range } = options;
  const lastBatch = await dependencies.owners.seal(
    run.definition,
    { jobId: run.job.id, range: range.number },
    callerOf(run.job),
  );
  if (range.lastBatch < lastBatch) await sendRange(dependencies, options, ({ number }) => number < lastBatch);
}

async function deleteKeysAndFile(
  { keys, blobs }: ImportDependencies,
  { tenantId, id, blobKey }: ImportJob,
): Promise<void> {
  await keys.delete(tenantId, id);
  await blobs.delete(blobKey);
}
