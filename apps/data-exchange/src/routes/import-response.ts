import type { ImportJobStatus } from '@plinth/contracts/data-exchange/shapes';
import { isoDuration, type RowCounts } from '../domain/import-job';
import { toRowError, type FailedRow } from '../domain/failed-row';
import type { ImportJob } from '../store/import-store';

export const toImportResponse = (job: ImportJob) => ({
  id: job.id,
  definitionName: job.definitionName,
  originalFileName: job.originalFileName,
  mimeType: job.mimeType,
  fileSizeBytes: job.fileSizeBytes,
  status: job.status as ImportJobStatus,
  createdAt: job.createdAt,
  completedAt: job.completedAt,
});

export const toReport = (
  importJobId: string,
  finalStatus: ImportJobStatus,
  counts: RowCounts,
  milliseconds: number,
  rowErrors: readonly FailedRow[],
  errorMessage: string | null = null,
) => ({
  importJobId,
  finalStatus,
  totalRows: counts.totalRows,
  succeededRows: counts.insertedRows + counts.updatedRows,
  failedRows: counts.failedRows,
  skippedRows: counts.skippedRows,
  insertedRows: counts.insertedRows,
  updatedRows: counts.updatedRows,
  duration: isoDuration(milliseconds),
  rowErrors: rowErrors.map(toRowError),
  errorMessage,
});
