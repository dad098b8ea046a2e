import { wholeFile } from '../formats/record-index';
import { findImportRun, type ImportDependencies } from './find-import-run';
import { withDefaultOptions } from './send-file';
import { storeSheetHeaders } from './store-sheet-headers';

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

/** The content of a workbook takes about this much more space than the workbook. */
const WORKBOOK_DENSITY = 10;

/** Plans a job by the size of its file, without reading the file: the decision must not take as long as its rows. */
export async function planImport(
  dependencies: PlanDependencies,
  tenantId: string,
  jobId: string,
  signal: AbortSignal,
): Promise<ImportPlan> {
  const run = await findImportRun(dependencies, tenantId, jobId);
  if (!run) return { kind: 'ended' };
  await storeSheetHeaders(dependencies, run, signal);
  const { format, fileSizeBytes, options } = run.job;
  const isText = format.kind === 'csv';
  const textBytes = isText ? fileSizeBytes : fileSizeBytes * WORKBOOK_DENSITY;
  const isSmall = textBytes <= dependencies.config.EXCHANGE_RANGE_BYTES;
  if (withDefaultOptions(options).onError === 'abort') return { kind: 'at-once', isSmall };
  if (isText && !isSmall) return { kind: 'ranges' };
  await dependencies.ranges.insert(tenantId, jobId, [wholeFile]);
  return { kind: 'whole', isSmall };
}
