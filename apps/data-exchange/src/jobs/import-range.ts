import type { Duplicate } from '../store/key-store';
import type { ImportRange } from '../store/range-store';
import { sendFile } from './import-plan';
import { findRun, sendPlan, type ImportRun, type ImportRunParts } from './import-run';
import { openRange } from './open-rows';

export interface RangeToImport {
  tenantId: string;
  jobId: string;
  range: number;
  keysFirst: boolean;
}

/**
 * Imports the rows of a range. It may be broken off anywhere and run again, also beside another run that only seems
 * dead: batches are applied once by the owner and counted once here. Answers whether to go on with the job.
 */
export async function importRange(
  parts: ImportRunParts,
  { tenantId, jobId, range: number, keysFirst }: RangeToImport,
  signal: AbortSignal,
): Promise<boolean> {
  const run = await findRun(parts, tenantId, jobId);
  if (!run || run.job.cancelRequestedAt !== null) return false;
  const range = await parts.ranges.get(tenantId, jobId, number);
  let isCancelled = false;
  const end = await sendRange(parts, { run, range, keysFirst, signal }, (answer) => {
    ({ isCancelled } = answer);
    return !isCancelled;
  });
  if (end !== 'sealed') return !isCancelled;
  return (await parts.imports.get(tenantId, jobId)).cancelRequestedAt === null;
}

/** Sends the batches of a range that are not counted yet, for as long as `goesOn` says so. */
export async function sendRange(
  parts: ImportRunParts,
  {
    run,
    range,
    keysFirst,
    signal,
  }: { run: ImportRun; range: ImportRange; keysFirst: boolean; signal: AbortSignal },
  goesOn: (answer: { number: number; isCancelled: boolean }) => boolean,
) {
  const { tenantId, id } = run.job;
  const file = await openRange(run.job, parts.blobs, range);
  return sendFile({
    ...sendPlan(parts, run, file, signal),
    commit: 'EACH_BATCH',
    range: range.number,
    after: range.lastBatch,
    ...(keysFirst
      ? {
          duplicatesOf: ({ firstRow, lastRow }): Promise<Duplicate[]> =>
            parts.keys.duplicates(tenantId, id, firstRow, lastRow),
        }
      : {}),
    onResult: async ({ number, counts, failedRows }) => {
      const note = { number, counts, failedRows, bytesDone: file.bytesRead() };
      return goesOn({ number, ...(await parts.ranges.noteBatch(tenantId, id, range.number, note)) });
    },
  });
}
