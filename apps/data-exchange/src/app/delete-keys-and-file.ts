import { isFinal } from '../domain/import-job';
import type { ImportJob } from '../store/import-store';
import type { ImportDependencies } from './find-import-run';

/** Removes what a job needed that has ended. */
export async function deleteKeysAndFile(
  { imports, keys, blobs }: ImportDependencies,
  { tenantId, id, blobKey }: ImportJob,
): Promise<void> {
  // Of a job that a restored database does not know to be executed, they are needed when it is.
  if (!isFinal((await imports.getState(tenantId, id)).status)) return;
  await keys.delete(tenantId, id);
  await blobs.delete(blobKey);
}
