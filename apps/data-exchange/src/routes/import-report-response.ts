import {
  REPORT_ROW_LENGTH_MAX,
  REPORT_ROWS_WITH_CELLS_MAX,
  type ImportJobStatus,
} from '@plinth/contracts/data-exchange/shapes';
import { localizeGroups, type ErrorGroup, type ErrorGroups } from '../domain/error-groups';
import {
  describeErrors,
  eachInSteps,
  Localizer,
  REPORT_MESSAGES_LENGTH_MAX,
  type FailedRowWithCells,
} from '../domain/failed-row';
import type { MessageTexts } from '../domain/message-texts';
import { isoDuration, type RowCounts } from '../domain/import-job';

interface ImportResult {
  importJobId: string;
  finalStatus: ImportJobStatus;
  counts: RowCounts;
  milliseconds: number;
  failedRows: readonly FailedRowWithCells[];
  /** In which the errors are told. */
  texts: MessageTexts;
  errorMessage?: string | null;
  /** The columns of the file, for a report that has the rows of its errors. */
  headers?: readonly string[] | undefined;
  groups?: ErrorGroups | undefined;
}

/** The report of an import or a dry-run, made in steps: its errors are megabytes. */
export function* toReport({
  importJobId,
  finalStatus,
  counts,
  milliseconds,
  failedRows,
  texts,
  errorMessage = null,
  headers,
  groups,
}: ImportResult) {
  const localizer = new Localizer(texts, REPORT_MESSAGES_LENGTH_MAX);
  // There are few of them, and they tell of all the rows.
  const localized = groups && localizeGroups(groups, localizer);
  const rowErrors = yield* eachInSteps(failedRows, (row, index) => ({
    ...toRowError(localizer.row(row)),
    ...(headers && index < REPORT_ROWS_WITH_CELLS_MAX ? cellsOf(row, headers.length) : {}),
  }));
  return {
    importJobId,
    finalStatus,
    totalRows: counts.totalRows,
    succeededRows: counts.insertedRows + counts.updatedRows,
    failedRows: counts.failedRows,
    skippedRows: counts.skippedRows,
    insertedRows: counts.insertedRows,
    updatedRows: counts.updatedRows,
    duration: isoDuration(milliseconds),
    rowErrors,
    ...(headers ? { headers: [...headers] } : {}),
    ...(localized ? { errorGroups: localized.groups.map(toErrorGroup), groupedRows: localized.rows } : {}),
    errorMessage,
  };
}

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
