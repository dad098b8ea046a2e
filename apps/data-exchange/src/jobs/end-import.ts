import { finalStatus } from '../domain/import-job';
import type { ImportJob } from '../store/import-store';
import { countRows } from './import-plan';
import { callerOf, countsOf, findRun, type ImportRun, type ImportRunParts } from './import-run';
import { sendRange } from './import-range';
import { openRows } from './open-rows';

export interface ImportToEnd {
  tenantId: string;
  jobId: string;
  isCancelled: boolean;
  keysFirst: boolean;
}

/** Ends a job whose ranges are all imported, or which somebody cancelled. */
export async function endImport(
  parts: ImportRunParts,
  { tenantId, jobId, isCancelled, keysFirst }: ImportToEnd,
  signal: AbortSignal,
): Promise<void> {
  const run = await findRun(parts, tenantId, jobId);
  if (!run) return;
  const { imports, clock } = parts;
  if (isCancelled) await countToTheSeal(parts, run, keysFirst, signal);
  const counts = countsOf(await imports.get(tenantId, jobId));
  if (isCancelled) {
    const totalRows = await countRows(await openRows(run.job, parts.blobs));
    const skippedRows = counts.skippedRows + totalRows - counts.totalRows;
    await imports.finish(tenantId, jobId, {
      status: 'Cancelled',
      counts: { ...counts, totalRows, skippedRows },
      at: clock.now(),
    });
  } else await imports.finish(tenantId, jobId, { status: finalStatus(counts), at: clock.now() });
  await forget(parts, run.job);
}

/** Ends a job that cannot go on. Rows that are committed stay and are counted. */
export async function failImport(
  parts: ImportRunParts,
  tenantId: string,
  jobId: string,
  reason: string,
): Promise<void> {
  const { imports, owners, clock } = parts;
  const run = await findRun(parts, tenantId, jobId).catch(() => undefined);
  if (run) {
    for (const { number: range } of await parts.ranges.list(tenantId, jobId)) {
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
  await forget(parts, job);
}

/** Another run may have committed more than is counted: behind the seal nobody commits, so the count can be made whole. */
async function countToTheSeal(
  parts: ImportRunParts,
  run: ImportRun,
  keysFirst: boolean,
  signal: AbortSignal,
): Promise<void> {
  const { tenantId, id: jobId } = run.job;
  for (const range of await parts.ranges.list(tenantId, jobId)) {
    const lastBatch = await parts.owners.seal(
      run.definition,
      { jobId, range: range.number },
      callerOf(run.job),
    );
    if (range.lastBatch < lastBatch)
      await sendRange(parts, { run, range, keysFirst, signal }, ({ number }) => number < lastBatch);
  }
}

async function forget({ keys, blobs }: ImportRunParts, { tenantId, id, blobKey }: ImportJob): Promise<void> {
  await keys.forget(tenantId, id);
  await blobs.delete(blobKey);
}
