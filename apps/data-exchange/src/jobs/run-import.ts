import type { Clock } from '@plinth/kernel/clock';
import { Problem } from '@plinth/kernel/problem';
import type { BlobStore } from '@plinth/runtime/blob-store';
import type { Definition } from '../domain/definition';
import { finalStatus, isFinal, noRows, type RowCounts } from '../domain/import-job';
import { definitionNotFound } from '../domain/problems';
import type { Owners } from '../grpc/owners';
import type { ImportJob, ImportStore, StoredFailedRow } from '../store/import-store';
import { add, afterAbort, countRows, sendFile, withDefaults, type SendPlan } from './import-plan';
import { openRows } from './open-rows';

export interface ImportRunParts {
  imports: ImportStore;
  owners: Owners;
  blobs: BlobStore;
  clock: Clock;
}

/**
 * Imports the rows of a job and ends it. It may be broken off anywhere and run again, also beside another run that
 * only seems dead: batches are applied once by the owner and counted once here.
 */
export async function runImport(
  parts: ImportRunParts,
  tenantId: string,
  jobId: string,
  signal: AbortSignal,
): Promise<void> {
  const { imports, owners, blobs } = parts;
  const job = await imports.get(tenantId, jobId);
  if (isFinal(job.status)) return;
  const definition = await owners.find(job.definitionName);
  if (!definition) throw definitionNotFound(job.definitionName);
  const run = withDefaults(job.options).onError === 'abort' ? importAllOrNothing : importBatchwise;
  await run(parts, job, definition, signal);
  await blobs.delete(job.blobKey);
}

/** Ends a job that cannot go on. Rows that are committed stay and are counted. */
export async function failImport(
  parts: ImportRunParts,
  tenantId: string,
  jobId: string,
  reason: string,
): Promise<void> {
  const { imports, owners, blobs, clock } = parts;
  const job = await imports.get(tenantId, jobId);
  if (isFinal(job.status)) return;
  const definition = await owners.find(job.definitionName).catch(() => undefined);
  if (definition) await owners.seal(definition, job.id, job.caller!).catch(() => undefined);
  const done = job.insertedRows + job.updatedRows + job.skippedRows + job.failedRows;
  await imports.finish(tenantId, jobId, {
    status: 'Failed',
    counts: { ...countsOf(job), totalRows: done },
    errorMessage: reason,
    at: clock.now(),
  });
  await blobs.delete(job.blobKey);
}

const countsOf = ({
  totalRows,
  insertedRows,
  updatedRows,
  skippedRows,
  failedRows,
}: ImportJob): RowCounts => ({
  totalRows,
  insertedRows,
  updatedRows,
  skippedRows,
  failedRows,
});

async function importBatchwise(
  parts: ImportRunParts,
  job: ImportJob,
  definition: Definition,
  signal: AbortSignal,
): Promise<void> {
  const { imports, owners, clock } = parts;
  const { tenantId, id } = job;
  const send = async (after: number, until: number): Promise<'all' | 'cancelled'> => {
    const file = await openRows(job, parts.blobs);
    let isCancelled = job.cancelRequestedAt !== null && until === Infinity;
    if (isCancelled) return 'cancelled';
    const end = await sendFile({
      ...plan(parts, job, definition, signal, file),
      commit: 'EACH_BATCH',
      after,
      onResult: async ({ number, counts, failedRows }) => {
        const note = { number, counts, failedRows, bytesDone: file.bytesRead() };
        ({ isCancelled } = await imports.noteBatch(tenantId, id, note));
        return number < until && !(isCancelled && until === Infinity);
      },
    });
    if (end === 'sealed' && !isCancelled && until === Infinity) {
      isCancelled = (await imports.get(tenantId, id)).cancelRequestedAt !== null;
    }
    return isCancelled ? 'cancelled' : 'all';
  };

  if ((await send(job.lastBatch, Infinity)) === 'all') {
    const counts = countsOf(await imports.get(tenantId, id));
    await imports.finish(tenantId, id, { status: finalStatus(counts), at: clock.now() });
    return;
  }
  // Another run may have committed more than is counted here: after the seal nobody commits, so the count can be made whole.
  const lastBatch = await owners.seal(definition, id, job.caller!);
  const counted = await imports.get(tenantId, id);
  if (counted.lastBatch < lastBatch) await send(counted.lastBatch, lastBatch);
  const done = countsOf(await imports.get(tenantId, id));
  const totalRows = await countRows(await openRows(job, parts.blobs));
  await imports.finish(tenantId, id, {
    status: 'Cancelled',
    counts: { ...done, totalRows, skippedRows: done.skippedRows + totalRows - done.totalRows },
    at: clock.now(),
  });
}

async function importAllOrNothing(
  parts: ImportRunParts,
  job: ImportJob,
  definition: Definition,
  signal: AbortSignal,
): Promise<void> {
  const { imports, clock } = parts;
  const { tenantId, id } = job;
  const file = await openRows(job, parts.blobs);
  let counts = noRows;
  let failedRows: StoredFailedRow[] = [];
  let isCancelled = job.cancelRequestedAt !== null;
  if (!isCancelled) {
    await sendFile({
      ...plan(parts, job, definition, signal, file),
      commit: 'ALL_OR_NOTHING',
      after: 0,
      onResult: async (batch) => {
        counts = add(counts, batch.counts);
        failedRows = batch.failedRows;
        isCancelled = (await imports.get(tenantId, id)).cancelRequestedAt !== null;
        return failedRows.length === 0 && !isCancelled;
      },
    });
  }
  if (failedRows.length === 0 && !isCancelled) {
    await imports.finish(tenantId, id, { status: finalStatus(counts), counts, at: clock.now() });
    return;
  }
  const totalRows = await countRows(await openRows(job, parts.blobs));
  await imports.finish(tenantId, id, {
    status: isCancelled ? 'Cancelled' : 'Failed',
    counts: afterAbort(totalRows, failedRows.length),
    failedRows,
    at: clock.now(),
  });
}

function plan(
  { owners }: ImportRunParts,
  job: ImportJob,
  definition: Definition,
  signal: AbortSignal,
  file: SendPlan['file'],
): Omit<SendPlan, 'commit' | 'after' | 'onResult'> {
  if (!job.caller) throw new Problem('internal', 'The job does not know on whose behalf it runs.');
  return { job, definition, caller: job.caller, owners, file, options: withDefaults(job.options), signal };
}
