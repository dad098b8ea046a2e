import { isFinal } from '../domain/import-job';
import { requireStored } from '../domain/lost-progress';
import { importForgotten, noRoomForFailedRows, tooManyFailedRows } from '../domain/problems';
import type { Duplicate } from '../store/key-store';
import type { ImportRange } from '../store/range-store';
import { commonSendOptions, requireAllRows, sendFile } from './send-file';
import { findImportRun, type ImportRun, type ImportDependencies } from './find-import-run';
import { keepLayout } from './keep-layout';
import { openRange } from './open-rows';
import { UncountedRows } from './uncounted-rows';

export interface RangeToImport {
  tenantId: string;
  jobId: string;
  range: number;
  keysFirst: boolean;
  /** The only range of the file, which may be large. */
  isWhole?: boolean;
  /** The workflow goes on elsewhere where it is too long for this place. */
  movesOn?: boolean;
  /** How many rows of the file have duplicate keys, as far as the workflow was told. */
  duplicates?: number;
}

/**
 * Imports the rows of a range. It can be interrupted anywhere and run again, also beside another run that only seems
 * dead: batches are applied once by the owner and counted once here. Returns false where the job does not go on, and otherwise
 * how many batches of the range are counted, or true for none: workflows of a version before take 0 for false.
 * @throws LostProgress where the database has not what the workflow was told
 */
export async function importRange(
  dependencies: ImportDependencies,
  { tenantId, jobId, range: number, keysFirst, duplicates }: RangeToImport,
  signal: AbortSignal,
): Promise<number | boolean> {
  const run = await findImportRun(dependencies, tenantId, jobId);
  if (!run || run.job.cancelRequestedAt !== null) return false;
  requireStored('duplicate keys', run.job.duplicateRows, duplicates);
  // Of what it sends the owner keeps results too. One that has begun goes on until rows of it fail.
  if (run.job.lastBatch === 0 && !(await dependencies.kept.hasRoomNow(tenantId, 1)))
    throw noRoomForFailedRows();
  const range = await dependencies.ranges.get(tenantId, jobId, number);
  let { lastBatch } = range;
  let isCancelled = false;
  let hasRoom = true;
  const end = await sendRange(dependencies, { run, range, keysFirst, signal }, (batch) => {
    ({ isCancelled } = batch);
    lastBatch = batch.number;
    hasRoom &&= batch.hasRoom;
    return !isCancelled && hasRoom && batch.isWhole;
  });
  // What is counted stays: rows that are imported, and the report of those that failed.
  if (!hasRoom) throw tooManyFailedRows();
  if (end !== 'sealed') return isCancelled ? false : lastBatch || true;
  const { status, cancelRequestedAt } = await dependencies.imports.get(tenantId, jobId);
  // What ends a job has its ranges sealed. Of one that goes on the owner has forgotten what it imported.
  if (!isFinal(status) && cancelRequestedAt === null) throw importForgotten();
  return false;
}

/**
 * Sends the batches of a range that are not counted yet, and counts them, while `shouldContinue` returns true.
 * @throws Problem `import-file-unreadable`, once they are counted, where rows of them have no result
 */
export async function sendRange(
  dependencies: ImportDependencies,
  {
    run,
    range,
    keysFirst,
    signal,
  }: { run: ImportRun; range: ImportRange; keysFirst: boolean; signal: AbortSignal },
  shouldContinue: (batch: CountedBatch) => boolean,
) {
  const { tenantId, id } = run.job;
  const { kept } = dependencies;
  const file = await openRange(run.job, dependencies, range, signal);
  await keepLayout(dependencies, run, file);
  const failedRows = new UncountedRows(dependencies.largeBatches, { tenantId, signal });
  const sent = await sendFile({
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
    failedRows,
    onResult: async ({ number, counts, isWhole }) => {
      const failedParts = failedRows.take();
      const hasRoom = failedParts.length === 0 || (await kept.hasRoomNow(tenantId, 1));
      // It may be committed, and is counted either way.
      const batch = { number, counts, failedParts: hasRoom ? failedParts : [], bytesDone: file.bytesRead() };
      const { isCancelled, failedBytes } = await dependencies.ranges.countBatch(
        tenantId,
        id,
        range.number,
        batch,
      );
      failedRows.release();
      kept.recordWritten(tenantId, failedBytes);
      return shouldContinue({ number, isCancelled, hasRoom, isWhole });
    },
  }).finally(() => failedRows.release());
  requireAllRows(sent);
  return sent.end;
}

interface CountedBatch {
  number: number;
  isCancelled: boolean;
  /** Whether the tenant had room for its failed rows, which are stored then. */
  hasRoom: boolean;
  /** Whether all of its rows, and of those before it, have a result. */
  isWhole: boolean;
}
