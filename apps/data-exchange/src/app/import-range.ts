import { tooManyFailedRows } from '../domain/problems';
import type { Duplicate } from '../store/key-store';
import type { ImportRange } from '../store/range-store';
import { commonSendOptions, sendFile } from './send-file';
import { findImportRun, type ImportRun, type ImportDependencies } from './find-import-run';
import { openRange } from './open-rows';

export interface RangeToImport {
  tenantId: string;
  jobId: string;
  range: number;
  keysFirst: boolean;
  /** The only range of the file, which may be large. */
  isWhole?: boolean;
}

/**
 * Imports the rows of a range. It can be interrupted anywhere and run again, also beside another run that only seems
 * dead: batches are applied once by the owner and counted once here. Returns whether to continue the job.
 */
export async function importRange(
  dependencies: ImportDependencies,
  { tenantId, jobId, range: number, keysFirst }: RangeToImport,
  signal: AbortSignal,
): Promise<boolean> {
  const run = await findImportRun(dependencies, tenantId, jobId);
  if (!run || run.job.cancelRequestedAt !== null) return false;
  const range = await dependencies.ranges.get(tenantId, jobId, number);
  let isCancelled = false;
  const end = await sendRange(dependencies, { run, range, keysFirst, signal }, (batch) => {
    ({ isCancelled } = batch);
    return !isCancelled;
  });
  if (end !== 'sealed') return !isCancelled;
  return (await dependencies.imports.get(tenantId, jobId)).cancelRequestedAt === null;
}

/** Sends the batches of a range that are not counted yet, while `shouldContinue` returns true. */
export async function sendRange(
  dependencies: ImportDependencies,
  {
    run,
    range,
    keysFirst,
    signal,
  }: { run: ImportRun; range: ImportRange; keysFirst: boolean; signal: AbortSignal },
  shouldContinue: (batch: { number: number; isCancelled: boolean }) => boolean,
) {
  const { tenantId, id } = run.job;
  const file = await openRange(run.job, dependencies.blobs, range, signal);
  let hasRoom = true;
  const end = await sendFile({
    ...commonSendOptions(dependencies, run, file, signal),
    commit: 'EACH_BATCH',
    range: range.number,
    after: range.lastBatch,
    ...(keysFirst
      ? {
          duplicatesOf: ({ firstRow, lastRow }): Promise<Duplicate[]> =>
            dependencies.keys.listDuplicates(tenantId, id, firstRow, lastRow),
        }
      : {}),
    onResult: async ({ number, counts, failedRows }) => {
      const batch = { number, counts, failedRows, bytesDone: file.bytesRead() };
      const { isCancelled, failedBytes } = await dependencies.ranges.countBatch(
        tenantId,
        id,
        range.number,
        batch,
      );
      if (failedBytes > 0 && !dependencies.kept.tryTake(tenantId, failedBytes)) hasRoom = false;
      return shouldContinue({ number, isCancelled }) && hasRoom;
    },
  });
  // What is counted stays: rows that are imported, and the report of those that failed.
  if (!hasRoom) throw tooManyFailedRows();
  return end;
}
