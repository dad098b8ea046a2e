import { finalStatus } from '../domain/import-job';
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
 */
export async function failImport(
  dependencies: ImportDependencies,
  { tenantId, jobId, reason }: { tenantId: string; jobId: string; reason: string },
  signal: AbortSignal,
): Promise<void> {
  const { imports, owners, clock } = dependencies;
  const run = await findImportRun(dependencies, tenantId, jobId).catch(() => undefined);
  if (run && withDefaultOptions(run.job.options).onError === 'abort') {
    const committed = await countCommitted(dependencies, run, signal).catch(() => undefined);
    if (committed) {
      await imports.finish(tenantId, jobId, {
        status: finalStatus(committed),
        counts: committed,
        at: clock.now(),
      });
      await deleteKeysAndFile(dependencies, run.job);
      return;
    }
  }
  if (run) {
    for (const range of await dependencies.ranges.numbers(tenantId, jobId)) {
      await owners.seal(run.definition, { jobId, range }, callerOf(run.job)).catch(() => undefined);
    }
  }
  const job = await imports.get(tenantId, jobId);
  const done = job.insertedRows + job.updatedRows + job.skippedRows + job.failedRows;
  await imports.finish(tenantId, jobId, {
    status: 'Failed',
    counts: { ...countsOf(job), totalRows: done },
    errorMessage: reason,
    at: clock.now(),
  });
  await deleteKeysAndFile(dependencies, job);
}

/** Another run may have committed more than is counted. After sealing nothing is committed, so the count can be completed. */
async function countUpToSeal(
  dependencies: ImportDependencies,
  run: ImportRun,
  keysFirst: boolean,
  signal: AbortSignal,
): Promise<void> {
  const { tenantId, id: jobId } = run.job;
  for (const range of await dependencies.ranges.list(tenantId, jobId)) {
    const lastBatch = await dependencies.owners.seal(
      run.definition,
      { jobId, range: range.number },
      callerOf(run.job),
    );
    if (range.lastBatch < lastBatch)
      await sendRange(dependencies, { run, range, keysFirst, signal }, ({ number }) => number < lastBatch);
  }
}

async function deleteKeysAndFile(
  { keys, blobs }: ImportDependencies,
  { tenantId, id, blobKey }: ImportJob,
): Promise<void> {
  await keys.delete(tenantId, id);
  await blobs.delete(blobKey);
}
