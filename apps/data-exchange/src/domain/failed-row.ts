import type { ImportRowErrorKind } from '@plinth/contracts/data-exchange/shapes';
import { fillIn, rowTexts, type RowText } from '@plinth/conventions/exchange/row-texts';

export interface RowErrorDetail {
  /** Name of the column in the file; null where the row as a whole is meant. */
  column: string | null;
  value: string | null;
  code: string;
  /** In the words of the owner. */
  message: string;
  /** The same as a text that there is in other cultures too. */
  text?: RowText;
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

/** What is said of rows in one culture, by the keys of the texts. */
export type RowTexts = Readonly<Record<string, string>>;

/** The same row in the words of a culture; what it has no words for is said in English, or as the owner said it. */
export const inWordsOf = <Row extends FailedRow>(row: Row, texts: RowTexts): Row => ({
  ...row,
  details: row.details.map((detail) => ({ ...detail, message: messageOf(detail, texts) })),
});

function messageOf({ column, message, text }: RowErrorDetail, texts: RowTexts): string {
  const words = text && (texts[text.key] ?? rowTexts[text.key]);
  return words === undefined ? message : fillIn(words, [column ?? '', ...text!.args]);
}

/** One text that says what is wrong, with column and value. */
export function describeFailure({ details }: Pick<FailedRow, 'details'>): string {
  return details.map(describeDetail).join(' ');
}

const describeDetail = ({ column, value, message }: RowErrorDetail): string => {
  if (column === null) return message;
  const subject = message.includes(column) ? message : `${column}: ${message}`;
  return value === null ? subject : `${subject} (${JSON.stringify(value)})`;
};

/** What a report says of a failed row. */
export const toRowError = ({ rowNumber, kind, details }: FailedRow) => ({
  rowNumber,
  kind,
  errorCodes: [...new Set(details.map(({ code }) => code))],
  message: describeFailure({ details }),
  details: details.map(({ column, value, code, message }) => ({ column, value, code, message })),
});
