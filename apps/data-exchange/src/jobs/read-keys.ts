import { sendFile } from './import-plan';
import { findRun, sendPlan, type ImportRunParts } from './import-run';
import { openRange } from './open-rows';
import type { RangeToImport } from './import-range';

/** Reads the keys of all rows of a range; run again, it goes on behind the batches whose keys are kept. */
export async function readKeys(
  parts: ImportRunParts,
  { tenantId, jobId, range: number }: RangeToImport,
  signal: AbortSignal,
): Promise<void> {
  const run = await findRun(parts, tenantId, jobId);
  if (!run || run.job.cancelRequestedAt !== null) return;
  const file = await openRange(run.job, parts.blobs, await parts.ranges.get(tenantId, jobId, number));
  await sendFile({
    ...sendPlan(parts, run, file, signal),
    commit: 'READ_KEYS',
    range: number,
    after: await parts.keys.lastBatch(tenantId, jobId, number),
    onResult: async ({ number: batch, keys }) => {
      await parts.keys.keep(tenantId, jobId, number, batch, keys);
      return true;
    },
  });
}
