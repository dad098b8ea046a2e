import { wholeFile } from '../formats/record-index';
import { UnreadableFile } from '../formats/unreadable-file';
import type { ImportJob } from '../store/import-store';
import { findImportRun, type ImportDependencies } from './find-import-run';
import { openWorkbook } from './open-workbook';
import { withDefaultOptions } from './send-file';

/**
 * How an import job runs; its result does not depend on it. The values are in recorded workflow histories, so they stay:
 * `at-once` is a single transaction.
 */
export type ImportPlan =
  /** The job has ended already. */
  | { kind: 'ended' }
  | { kind: 'at-once'; isSmall: boolean }
  /** The whole file is one range. */
  | { kind: 'whole'; isSmall: boolean }
  /** The file must be split into ranges first. */
  | { kind: 'ranges' };

export interface PlanDependencies extends ImportDependencies {
  config: { EXCHANGE_RANGE_BYTES: number };
}

/** Plans a job by the size of its content, without reading it: the decision must not take as long as its rows. */
export async function planImport(
  dependencies: PlanDependencies,
  tenantId: string,
  jobId: string,
): Promise<ImportPlan> {
  const run = await findImportRun(dependencies, tenantId, jobId);
  if (!run) return { kind: 'ended' };
  const { format, options } = run.job;
  const isText = format.kind === 'csv';
  const isSmall = (await contentBytesOf(dependencies, run.job)) <= dependencies.config.EXCHANGE_RANGE_BYTES;
  if (withDefaultOptions(options).onError === 'abort') return { kind: 'at-once', isSmall };
  if (isText && !isSmall) return { kind: 'ranges' };
  const ranges = await dependencies.ranges.insert(tenantId, jobId, [wholeFile]);
  // It may have been split by smaller ranges than are configured by now.
  return ranges > 1 ? { kind: 'ranges' } : { kind: 'whole', isSmall };
}

/** Of a workbook what its sheet and the texts of all sheets unpack to; an import of one that is damaged ends soon. */
async function contentBytesOf(
  { blobs }: Pick<PlanDependencies, 'blobs'>,
  { format, options, blobKey, fileSizeBytes: sizeBytes }: ImportJob,
): Promise<number> {
  if (format.kind === 'csv') return sizeBytes;
  const parts = await openWorkbook(blobs, { blobKey, sizeBytes }).catch((error: unknown) => {
    if (error instanceof UnreadableFile) return undefined;
    throw error;
  });
  const wanted = options.sheet ?? format.sheet;
  const sheet = parts?.sheets.find(({ name }) => wanted === undefined || name === wanted);
  return (sheet?.part.unpackedBytes ?? 0) + (parts?.sharedStrings?.unpackedBytes ?? 0);
}
