import {
  REPORT_ROW_LENGTH_MAX,
  REPORT_ROWS_WITH_CELLS_MAX,
  type ImportJobStatus,
} from '@plinth/contracts/data-exchange/shapes';
import type { ErrorGroup, ErrorGroups } from '../domain/error-groups';
import { describeErrors, type FailedRowWithCells } from '../domain/failed-row';
import { isoDuration, type RowCounts } from '../domain/import-job';

interface ImportResult {
  importJobId: string;
  finalStatus: ImportJobStatus;
  counts: RowCounts;
  milliseconds: number;
  failedRows: readonly FailedRowWithCells[];
  errorMessage?: string | null;
  /** The columns of the file, for a report that has the rows of its errors. */
  headers?: readonly string[] | undefined;
  groups?: ErrorGroups | undefined;
}

export const toReport = ({
  importJobId,
  finalStatus,
  counts,
  milliseconds,
  failedRows,
  errorMessage = null,
  headers,
  groups,
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
  rowErrors: failedRows.map((row, index) => ({
    ...toRowError(row),
    ...(headers && index < REPORT_ROWS_WITH_CELLS_MAX ? cellsOf(row, headers.length) : {}),
  })),
  ...(headers ? { headers: [...headers] } : {}),
  ...(groups ? { errorGroups: groups.groups.map(toErrorGroup), groupedRows: groups.rows } : {}),
  errorMessage,
});

/** The cells of a row, one for each column and those beyond; none of a row that is too long to be corrected by hand. */
function cellsOf({ cells }: FailedRowWithCells, columnCount: number) {
  const length = cells.reduce((sum, cell) => sum + cell.length, 0);
  if (length > REPORT_ROW_LENGTH_MAX) return {};
  return { cells: [...cells, ...Array<string>(Math.max(0, columnCount - cells.length)).fill('')] };
}

const toRowError = ({ rowNumber, kind, details }: FailedRowWithCells) => ({
  rowNumber,
  kind,
  errorCodes: [...new Set(details.map(({ code }) => code))],
  message: describeErrors({ details }),
  details: details.map(({ column, value, code, message }) => ({ column, value, code, message })),
});

const toErrorGroup = ({ kind, example: { column, code, message }, count }: ErrorGroup) => ({
  kind,
  column,
  code,
  message,
  count,
});
