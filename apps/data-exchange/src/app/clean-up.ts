import type { Clock } from '@plinth/kernel/clock';
import type { BlobStore } from '@plinth/runtime/blobs/blob-store';
import type { UnrecordedBlobs } from '@plinth/runtime/blobs/unrecorded-blobs';
import type { DataExchangeConfig } from '../config';
import { formerExportBlobKey } from '../domain/export-job';
import type { ExportStore } from '../store/export-store';
import type { ImportStore } from '../store/import-store';
import type { KeyStore } from '../store/key-store';
import { JOB_BATCH_SIZE } from '../store/job-records';

/** What is removed at the end of its retention. */
export type Expired = 'upload' | 'export' | 'interrupted-file' | 'failed-row' | 'job';

export interface CleanupDependencies {
  config: Pick<
    DataExchangeConfig,
    | 'EXCHANGE_EXPORT_DAYS'
    | 'EXCHANGE_UPLOAD_DAYS'
    | 'EXCHANGE_REPORT_DAYS'
    | 'EXCHANGE_JOB_DAYS'
    | 'EXCHANGE_UNDO_DAYS'
    | 'EXCHANGE_ENDED_FILE_HOURS'
    | 'EXCHANGE_INTERRUPTED_FILE_HOURS'
  >;
  imports: ImportStore;
  exports: ExportStore;
  keys: Pick<KeyStore, 'delete'>;
  blobs: BlobStore;
  unrecordedBlobs: UnrecordedBlobs;
  clock: Clock;
  /** Counts what was removed. */
  countExpired(kind: Expired, count: number): void;
}

const HOUR_MILLISECONDS = 3_600_000;
const DAY_MILLISECONDS = 24 * HOUR_MILLISECONDS;

/**
 * Removes what is at the end of its retention: files of exports, uploads that were never executed, files and keys that an
 * ended job left because the blob store was unavailable or a process crashed, the failed rows of imports, and at last the jobs
 * themselves. Returns whether there is more, since a tenant can start more jobs than one batch in the time between two runs.
 * @throws an error of a job, when all had their turn
 */
export async function cleanUp(dependencies: CleanupDependencies): Promise<boolean> {
  const { config, imports, exports, keys, blobs, clock, countExpired } = dependencies;
  const now = clock.now();
  const before = (milliseconds: number) => new Date(now.getTime() - milliseconds);
  // A run that still worked on a job when it ended has stopped by then.
  const longEnded = before(config.EXCHANGE_ENDED_FILE_HOURS * HOUR_MILLISECONDS);
  // An import can be undone for some days after its end, and begins some days after its upload.
  const undoEndedDays = config.EXCHANGE_UPLOAD_DAYS + config.EXCHANGE_UNDO_DAYS + 1;
  const jobsMadeBefore = before(Math.max(config.EXCHANGE_JOB_DAYS, undoEndedDays) * DAY_MILLISECONDS);

  const listed = [
    await forEach(
      await imports.listAbandoned(before(config.EXCHANGE_UPLOAD_DAYS * DAY_MILLISECONDS)),
      ({ tenantId, id }) => imports.cancelBeforeExecution(tenantId, id, now),
    ),
    await forEach(await imports.listWithFile(longEnded), async ({ tenantId, id, blobKey }) => {
      await keys.delete(tenantId, id);
      await blobs.delete(blobKey);
      await imports.recordFileRemoval(tenantId, id, now);
      countExpired('upload', 1);
    }),
    await forEach(
      await exports.listWithFile({
        completed: before(config.EXCHANGE_EXPORT_DAYS * DAY_MILLISECONDS),
        failed: longEnded,
      }),
      async ({ tenantId, id, blobKey }) => {
        if (blobKey !== null) await blobs.delete(blobKey);
        // Where a run of a former version stored its file, also beside a run of this one.
        await blobs.delete(formerExportBlobKey(tenantId, id));
        await exports.recordFileRemoval(tenantId, id, now);
        countExpired('export', 1);
      },
    ),
    await forEach(
      await imports.listWithRows(before(config.EXCHANGE_REPORT_DAYS * DAY_MILLISECONDS)),
      async ({ tenantId, id }) => countExpired('failed-row', await imports.removeRows(tenantId, id, now)),
    ),
    ...(await Promise.all(
      [imports, exports].map(async (jobs) =>
        forEach(await jobs.listExpired(jobsMadeBefore), async ({ tenantId, id }) => {
          await jobs.remove(tenantId, id);
          countExpired('job', 1);
        }),
      ),
    )),
  ];
  const failure = listed.find(({ error }) => error !== undefined);
  if (failure) throw failure.error;
  return listed.some(({ count }) => count === JOB_BATCH_SIZE);
}

/** One job that cannot be cleaned up holds up no other. Returns how many jobs there were, and the last error. */
async function forEach<Job>(
  jobs: readonly Job[],
  cleanUpJob: (job: Job) => Promise<unknown>,
): Promise<{ count: number; error?: unknown }> {
  let error: unknown;
  for (const job of jobs)
    await cleanUpJob(job).catch((reason: unknown) => {
      error = reason;
    });
  return { count: jobs.length, error };
}

/**
 * Removes what processes left of files when they crashed while storing them or before they made a job of them; a file that
 * is being stored counts as younger, however long that takes.
 */
export async function cleanUpInterruptedFiles({
  config,
  blobs,
  unrecordedBlobs,
  clock,
  countExpired,
}: Pick<
  CleanupDependencies,
  'config' | 'blobs' | 'unrecordedBlobs' | 'clock' | 'countExpired'
>): Promise<void> {
  const retention = config.EXCHANGE_INTERRUPTED_FILE_HOURS * HOUR_MILLISECONDS;
  const before = new Date(clock.now().getTime() - retention);
  try {
    countExpired('interrupted-file', await blobs.deleteInterrupted(before));
  } finally {
    await unrecordedBlobs.removeAbandoned(before, (count) => countExpired('interrupted-file', count));
  }
}
