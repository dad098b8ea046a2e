import type { ImportDependencies, ImportRun } from './find-import-run';
import { openRows } from './open-rows';

/** A sheet that only the execution names is not the one that was previewed: failed rows have the columns of this sheet. */
export async function storeSheetHeaders(
  { blobs, imports }: ImportDependencies,
  { job }: ImportRun,
): Promise<void> {
  if (job.options.sheet === undefined) return;
  const { headers, close } = await openRows(job, blobs);
  await close();
  await imports.setHeaders(job.tenantId, job.id, headers);
}
