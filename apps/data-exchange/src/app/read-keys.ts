import { commonSendOptions, sendFile } from './send-file';
import { findImportRun, type ImportDependencies } from './find-import-run';
import { openRange } from './open-rows';
import type { RangeToImport } from './import-range';

/**
 * Reads the keys of all rows of a range; run again, it continues after the batches whose keys are stored. Returns how many
 * these are.
 */
export async function readKeys(
  dependencies: ImportDependencies,
  { tenantId, jobId, range: number }: RangeToImport,
  signal: AbortSignal,
): Promise<number> {
  const run = await findImportRun(dependencies, tenantId, jobId);
  if (!run || run.job.cancelRequestedAt !== null) return 0;
  const range = await dependencies.ranges.get(tenantId, jobId, number);
  const after = await dependencies.keys.lastBatch(tenantId, jobId, number);
  let lastBatch = after;
  const file = await openRange(run.job, dependencies, range, signal);
  await sendFile({
    ...commonSendOptions(dependencies, run, file, signal),
    commit: 'READ_KEYS',
    range: number,
    after,
    onResult: async ({ number: batch, keys }) => {
      await dependencies.keys.insert(tenantId, jobId, number, batch, keys);
      lastBatch = batch;
      return true;
    },
  });
  return lastBatch;
}
