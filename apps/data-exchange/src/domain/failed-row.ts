import type { ImportRowErrorKind } from '@plinth/contracts/data-exchange/shapes';

export interface RowErrorDetail {
  /** Name of the column in the file; null where the row as a whole is meant. */
  column: string | null;
  value: string | null;
  code: string;
  message: string;
}

/** A row that is not imported, and everything that is wrong with it. */
export interface FailedRow {
  rowNumber: number;
  kind: ImportRowErrorKind;
  details: RowErrorDetail[];
}

/** Owners speak of properties; whoever repairs a file knows its columns. */
export const inColumnsOfFile = (
  row: FailedRow,
  columnByProperty: ReadonlyMap<string, string>,
): FailedRow => ({
  ...row,
  details: row.details.map((detail) => ({
    ...detail,
    column: detail.column === null ? null : (columnByProperty.get(detail.column) ?? detail.column),
  })),
});

/** One text that says what is wrong, with column and value. */
export function describeFailure({ details }: Pick<FailedRow, 'details'>): string {
  return details.map(describeDetail).join(' ');
}

const describeDetail = ({ column, value, message }: RowErrorDetail): string => {
  if (column === null) return message;
  return value === null ? `${column}: ${message}` : `${column}: ${message} (${JSON.stringify(value)})`;
};

/** What a report says of a failed row. */
export const toRowError = ({ rowNumber, kind, details }: FailedRow) => ({
  rowNumber,
  kind,
  errorCodes: [...new Set(details.map(({ code }) => code))],
  message: describeFailure({ details }),
  details,
});
