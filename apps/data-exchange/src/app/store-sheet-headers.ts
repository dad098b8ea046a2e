import type { ImportDependencies, ImportRun } from './find-import-run';
import { openRows } from './open-rows';

/** The sheet that is imported may not be the one that was previewed last: failed rows have the columns of this sheet. */
export async function storeSheetHeaders(
  { blobs, imports }: ImportDependencies,
  { job }: ImportRun,
  signal: AbortSignal,
): Promise<void> {
  if (job.format.kind === 'csv' || job.format.sheets?.length === 1) return;
  const { headers, close } = await openRows(job, blobs, { signal });
  await close();
  await imports.setHeaders(job.tenantId, job.id, headers);
}
