import type { Clock } from '@plinth/kernel/clock';
import type { BlobStore } from '@plinth/runtime/blob-store';
import { exportBlobKey } from '../domain/export-job';
import type { ExportStore } from '../store/export-store';
import type { ImportStore } from '../store/import-store';

export interface FileRemovalParts {
  config: { EXCHANGE_EXPORT_DAYS: number; EXCHANGE_UPLOAD_DAYS: number };
  imports: ImportStore;
  exports: ExportStore;
  blobs: BlobStore;
  clock: Clock;
}

const HOUR_MILLISECONDS = 3_600_000;
const DAY_MILLISECONDS = 24 * HOUR_MILLISECONDS;

/**
 * Removes the files that nobody can ask for any more: those of exports after their days, of uploads that nobody
 * executes, and what a job that ended left behind because the store was away or a process died.
 */
export async function removeFiles({
  config,
  imports,
  exports,
  blobs,
  clock,
}: FileRemovalParts): Promise<void> {
  const now = clock.now();
  const before = (milliseconds: number) => new Date(now.getTime() - milliseconds);
  // Whoever worked on a job when it ended has noticed by then.
  const left = before(HOUR_MILLISECONDS);

  for (const { tenantId, id } of await imports.abandoned(
    before(config.EXCHANGE_UPLOAD_DAYS * DAY_MILLISECONDS),
  ))
    await imports.cancelBefore(tenantId, id, now);
  for (const { tenantId, id, blobKey } of await imports.withFileLeft(left)) {
    await blobs.delete(blobKey);
    await imports.noteFileRemoved(tenantId, id, now);
  }
  const expired = before(config.EXCHANGE_EXPORT_DAYS * DAY_MILLISECONDS);
  for (const { tenantId, id } of await exports.withFileLeft({ completed: expired, failed: left })) {
    await blobs.delete(exportBlobKey(tenantId, id));
    await exports.noteFileRemoved(tenantId, id, now);
  }
}
