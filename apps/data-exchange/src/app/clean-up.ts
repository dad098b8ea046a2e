import type { Clock } from '@plinth/kernel/clock';
import type { BlobStore } from '@plinth/runtime/blobs/blob-store';
import type { DataExchangeConfig } from '../config';
import { exportBlobKey } from '../domain/export-job';
import type { ExportStore } from '../store/export-store';
import type { ImportStore } from '../store/import-store';

/** What is removed at the end of its retention. */
export type Expired = 'upload' | 'export' | 'interrupted-file' | 'failed-row';

export interface CleanupDependencies {
  config: Pick<
    DataExchangeConfig,
    | 'EXCHANGE_EXPORT_DAYS'
    | 'EXCHANGE_UPLOAD_DAYS'
    | 'EXCHANGE_REPORT_DAYS'
    | 'EXCHANGE_ENDED_FILE_HOURS'
    | 'EXCHANGE_INTERRUPTED_FILE_HOURS'
  >;
  imports: ImportStore;
  exports: ExportStore;
  blobs: BlobStore;
  clock: Clock;
  /** Counts what was removed. */
  countExpired(kind: Expired, count: number): void;
}

const HOUR_MILLISECONDS = 3_600_000;
const DAY_MILLISECONDS = 24 * HOUR_MILLISECONDS;

/**
 * Removes what is at the end of its retention: files of exports, uploads that were never executed, files that an ended
 * job left because the blob store was unavailable or a process crashed, and the failed rows of imports.
 */
export async function cleanUp(dependencies: CleanupDependencies): Promise<void> {
  const { config, imports, exports, blobs, clock, countExpired } = dependencies;
  const now = clock.now();
  const before = (milliseconds: number) => new Date(now.getTime() - milliseconds);
  // A run that still worked on a job when it ended has stopped by then.
  const longEnded = before(config.EXCHANGE_ENDED_FILE_HOURS * HOUR_MILLISECONDS);

  for (const { tenantId, id } of await imports.listAbandoned(
    before(config.EXCHANGE_UPLOAD_DAYS * DAY_MILLISECONDS),
  ))
    await imports.cancelBeforeExecution(tenantId, id, now);
  for (const { tenantId, id, blobKey } of await imports.listWithFile(longEnded)) {
    await blobs.delete(blobKey);
    await imports.recordFileRemoval(tenantId, id, now);
    countExpired('upload', 1);
  }
  const expired = before(config.EXCHANGE_EXPORT_DAYS * DAY_MILLISECONDS);
  for (const { tenantId, id } of await exports.listWithFile({ completed: expired, failed: longEnded })) {
    await blobs.delete(exportBlobKey(tenantId, id));
    await exports.recordFileRemoval(tenantId, id, now);
    countExpired('export', 1);
  }
  const reported = before(config.EXCHANGE_REPORT_DAYS * DAY_MILLISECONDS);
  for (const { tenantId, id } of await imports.listWithRows(reported))
    countExpired('failed-row', await imports.removeRows(tenantId, id, now));
}

/** Removes what processes left of files when they crashed while storing them; a file that is being stored is younger. */
export async function cleanUpInterruptedFiles({
  config,
  blobs,
  clock,
  countExpired,
}: Pick<CleanupDependencies, 'config' | 'blobs' | 'clock' | 'countExpired'>): Promise<void> {
  const retention = config.EXCHANGE_INTERRUPTED_FILE_HOURS * HOUR_MILLISECONDS;
  const before = new Date(clock.now().getTime() - retention);
  countExpired('interrupted-file', await blobs.deleteInterrupted(before));
}
