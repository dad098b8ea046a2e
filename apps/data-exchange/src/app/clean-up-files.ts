import type { Clock } from '@plinth/kernel/clock';
import type { BlobStore } from '@plinth/runtime/blobs/blob-store';
import { exportBlobKey } from '../domain/export-job';
import type { ExportStore } from '../store/export-store';
import type { ImportStore } from '../store/import-store';

export interface FileCleanupDependencies {
  config: { EXCHANGE_EXPORT_DAYS: number; EXCHANGE_UPLOAD_DAYS: number };
  imports: ImportStore;
  exports: ExportStore;
  blobs: BlobStore;
  clock: Clock;
}

const HOUR_MILLISECONDS = 3_600_000;
const DAY_MILLISECONDS = 24 * HOUR_MILLISECONDS;

/**
 * Deletes files at the end of their retention: of exports, of uploads that were never executed, and those that an ended
 * job left because the blob store was unavailable or a process crashed.
 */
export async function cleanUpFiles({
  config,
  imports,
  exports,
  blobs,
  clock,
}: FileCleanupDependencies): Promise<void> {
  const now = clock.now();
  const before = (milliseconds: number) => new Date(now.getTime() - milliseconds);
  // A run that still worked on a job when it ended has stopped by then.
  const longEnded = before(HOUR_MILLISECONDS);

  for (const { tenantId, id } of await imports.listAbandoned(
    before(config.EXCHANGE_UPLOAD_DAYS * DAY_MILLISECONDS),
  ))
    await imports.cancelBeforeExecution(tenantId, id, now);
  for (const { tenantId, id, blobKey } of await imports.listWithFile(longEnded)) {
    await blobs.delete(blobKey);
    await imports.recordFileRemoval(tenantId, id, now);
  }
  const expired = before(config.EXCHANGE_EXPORT_DAYS * DAY_MILLISECONDS);
  for (const { tenantId, id } of await exports.listWithFile({ completed: expired, failed: longEnded })) {
    await blobs.delete(exportBlobKey(tenantId, id));
    await exports.recordFileRemoval(tenantId, id, now);
  }
}
