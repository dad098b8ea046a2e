import type { ImportJobStatus } from '@plinth/contracts/data-exchange/shapes';
import type { FailedRow } from '@plinth/exchange/row-error';
import { describeErrors } from '../domain/failed-row';
import { isoDuration, type RowCounts } from '../domain/import-job';

interface ImportResult {
  importJobId: string;
  finalStatus: ImportJobStatus;
  counts: RowCounts;
  milliseconds: number;
  failedRows: readonly FailedRow[];
  errorMessage?: string | null;
}

export const toReport = ({
  importJobId,
  finalStatus,
  counts,
  milliseconds,
  failedRows,
  errorMessage = null,
}: ImportResult) => ({
  importJobId,
  finalStatus,
  totalRows: counts.totalRows,
  succeededRows: counts.insertedRows + counts.updatedRows,
  failedRows: counts.failedRows,
  skippedRows: counts.skippedRows,
  insertedRows: counts.insertedRows,
  updatedRows: counts.updatedRows,
  duration: isoDuration(milliseconds),
  rowErrors: failedRows.map(toRowError),
  errorMessage,
});

const toRowError = ({ rowNumber, kind, details }: FailedRow) => ({
  rowNumber,
  kind,
  errorCodes: [...new Set(details.map(({ code }) => code))],
  message: describeErrors({ details }),
  details: details.map(({ column, value, code, message }) => ({ column, value, code, message })),
});
