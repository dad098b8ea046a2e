import { ID_PROPERTY } from '../domain/definition';
import { indexRecords, wholeFile, type FileRange } from '../formats/record-index';
import { UnreadableFile } from '../formats/unreadable-file';
import { fileUnreadable } from '../domain/problems';
import { withDefaults } from './import-plan';
import { openRows } from './open-rows';
import { findRun, type ImportRun, type ImportRunParts } from './import-run';

/** How a job is worked off; what becomes of its rows is the same in every way. */
export type ImportWay =
  | { kind: 'ended' }
  /** All rows in one transaction. */
  | { kind: 'at-once'; isSmall: boolean }
  /** The whole file is one range. */
  | { kind: 'whole'; isSmall: boolean }
  /** The file must be cut first. */
  | { kind: 'ranges' };

/** How the ranges of a file are imported. */
export interface ImportCut {
  count: number;
  /** Ranges that are imported at the same time. */
  atOnce: number;
  /** All keys are read before the first row is written, so that ranges need not wait for earlier ones (ADR 0016). */
  keysFirst: boolean;
}

export interface PlanParts extends ImportRunParts {
  config: { EXCHANGE_RANGE_BYTES: number };
  /** Workers that could take part. */
  countWorkers(): Promise<number>;
}

/** The history of a workflow notes every range, and must not grow without end. */
const RANGES_MAX = 600;
/** What a workbook holds takes about this much more room than the workbook. */
const WORKBOOK_DENSITY = 10;

/** Decides how a job is worked off from the size of its file: whoever waits for this must not wait for its rows. */
export async function planImport(parts: PlanParts, tenantId: string, jobId: string): Promise<ImportWay> {
  const run = await findRun(parts, tenantId, jobId);
  if (!run) return { kind: 'ended' };
  await noteHeaderOfSheet(parts, run);
  const { format, fileSizeBytes, options } = run.job;
  const isText = format.kind === 'csv';
  const textBytes = isText ? fileSizeBytes : fileSizeBytes * WORKBOOK_DENSITY;
  const isSmall = textBytes <= parts.config.EXCHANGE_RANGE_BYTES;
  if (withDefaults(options).onError === 'abort') return { kind: 'at-once', isSmall };
  if (isText && !isSmall) return { kind: 'ranges' };
  await parts.ranges.keep(tenantId, jobId, [wholeFile]);
  return { kind: 'whole', isSmall };
}

/** Cuts the file of a job into ranges. */
export async function cutFile(parts: PlanParts, tenantId: string, jobId: string): Promise<ImportCut> {
  const run = await findRun(parts, tenantId, jobId);
  if (!run) return { count: 0, atOnce: 1, keysFirst: false };
  const ranges = await cut(parts, run);
  await parts.ranges.keep(tenantId, jobId, ranges);
  const workers = ranges.length > 1 && canShare(run) ? await parts.countWorkers() : 1;
  return { count: ranges.length, atOnce: workers, keysFirst: workers > 1 };
}

/** A sheet that only the execution names is not the one that was previewed: its failed rows have its columns. */
async function noteHeaderOfSheet({ blobs, imports }: PlanParts, { job }: ImportRun): Promise<void> {
  if (job.options.sheet === undefined) return;
  const { headers, close } = await openRows(job, blobs);
  await close();
  await imports.noteHeaders(job.tenantId, job.id, headers);
}

async function cut({ blobs, config }: PlanParts, { job }: ImportRun): Promise<FileRange[]> {
  const { format, fileSizeBytes: sizeBytes } = job;
  if (format.kind !== 'csv') return [wholeFile];
  const rangeBytes = Math.max(config.EXCHANGE_RANGE_BYTES, Math.ceil(sizeBytes / RANGES_MAX));
  try {
    return await indexRecords(await blobs.get(job.blobKey), format, { sizeBytes, rangeBytes });
  } catch (error) {
    throw error instanceof UnreadableFile ? fileUnreadable(error.message) : error;
  }
}

/** Rows that name ids may take keys from each other, so that their order matters. */
const canShare = ({ job, definition }: ImportRun): boolean =>
  definition.rowsAreIndependent &&
  !(job.mappings ?? []).some(({ targetProperty }) => targetProperty === ID_PROPERTY);
