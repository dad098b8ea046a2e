import { ID_PROPERTY } from '@plinth/exchange/definition';
import { fileUnreadable } from '../domain/problems';
import { indexRecords, wholeFile, type FileRange } from '../formats/record-index';
import { UnreadableFile } from '../formats/unreadable-file';
import { findImportRun, type ImportRun } from './find-import-run';
import { abortedBy } from './open-rows';
import type { PlanDependencies } from './plan-import';

/** How the ranges of a file are imported. The names are in recorded workflow histories, so they stay. */
export interface RangePlan {
  count: number;
  /** The concurrency: how many ranges are imported at the same time. */
  atOnce: number;
  /** All keys are read before the first row is written, so that ranges need not wait for earlier ones (ADR 0016). */
  keysFirst: boolean;
}

export interface SplitDependencies extends PlanDependencies {
  /** The workers that can import ranges. */
  countWorkers(): Promise<number>;
}

/** The history of a workflow records every range, and must not grow without limit. */
const RANGES_MAX = 600;

/**
 * Splits the file of a job into ranges, once: they stay, whatever is configured by the time that the job begins anew. Its keys
 * are read first then, since batches that were imported with known duplicates left no keys with their owner.
 */
export async function splitIntoRanges(
  dependencies: SplitDependencies,
  tenantId: string,
  jobId: string,
  signal: AbortSignal,
): Promise<RangePlan> {
  const run = await findImportRun(dependencies, tenantId, jobId);
  if (!run) return { count: 0, atOnce: 1, keysFirst: false };
  const { length: stored } = await dependencies.ranges.list(tenantId, jobId);
  const count =
    stored ||
    (await dependencies.ranges.insert(tenantId, jobId, await findRanges(dependencies, run, signal)));
  if (count === 1 || !canRunConcurrently(run)) return { count, atOnce: 1, keysFirst: false };
  const workers = await dependencies.countWorkers();
  return { count, atOnce: workers, keysFirst: workers > 1 || stored > 0 };
}

async function findRanges(
  { blobs, config }: SplitDependencies,
  { job }: ImportRun,
  signal: AbortSignal,
): Promise<FileRange[]> {
  const { format, fileSizeBytes: sizeBytes } = job;
  // Of a cancelled job nothing is imported, and one range is what it ends with.
  if (format.kind !== 'csv' || job.cancelRequestedAt !== null) return [wholeFile];
  const rangeBytes = Math.max(config.EXCHANGE_RANGE_BYTES, Math.ceil(sizeBytes / RANGES_MAX));
  try {
    const bytes = abortedBy(signal, await blobs.get(job.blobKey));
    return await indexRecords(bytes, format, { sizeBytes, rangeBytes });
  } catch (error) {
    throw error instanceof UnreadableFile ? fileUnreadable(error.message) : error;
  }
}

/** Rows that name ids may take keys from each other, so that their order matters. */
const canRunConcurrently = ({ job, definition }: ImportRun): boolean =>
  definition.rowsAreIndependent &&
  !(job.mappings ?? []).some(({ targetProperty }) => targetProperty === ID_PROPERTY);
