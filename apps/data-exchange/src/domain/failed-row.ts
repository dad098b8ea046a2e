import type { FailedRow, RowErrorDetail } from '@plinth/exchange/row-error';
import { rowMessages } from '@plinth/exchange/row-message';
import { formatMessage } from '@plinth/kernel/message';

/** A failed row with the cells it has in the file. */
export interface FailedRowWithCells extends FailedRow {
  cells: string[];
}

/** A report describes rows up to so many bytes; the correction file has all of them. */
export const REPORT_BYTES_MAX = 4 * 1024 * 1024;

/** Data owners name properties; a person who corrects a file knows its columns. */
export const withFileColumns = (
  row: FailedRow,
  columnByProperty: ReadonlyMap<string, string>,
): FailedRow => ({
  ...row,
  details: row.details.map((detail) => ({
    ...detail,
    column: detail.column === null ? null : (columnByProperty.get(detail.column) ?? detail.column),
  })),
});

/** The row messages of one culture. */
export interface RowMessageTexts {
  culture: string;
  byKey: Readonly<Record<string, string>>;
}

/** The same row with messages of a culture; a message without a text there is in English. */
export const localize = <Row extends FailedRow>(row: Row, texts: RowMessageTexts): Row => ({
  ...row,
  details: row.details.map((detail) => ({ ...detail, message: localizedMessage(detail, texts) })),
});

function localizedMessage({ column, message, text }: RowErrorDetail, texts: RowMessageTexts): string {
  if (!text) return message;
  const { culture } = texts;
  const localized = texts.byKey[text.key];
  return localized === undefined
    ? formatMessage(rowMessages[text.key], [column ?? '', ...text.args], { culture: 'en' })
    : formatMessage(localized, [column ?? '', ...text.args], { culture });
}

/** All errors of a row as one text, with columns and values. */
export function describeErrors({ details }: Pick<FailedRow, 'details'>): string {
  return details.map(describeError).join(' ');
}

const describeError = ({ column, value, message }: RowErrorDetail): string => {
  if (column === null) return message;
  const subject = message.includes(column) ? message : `${column}: ${message}`;
  return value === null ? subject : `${subject} (${JSON.stringify(value)})`;
};
