import { storable } from '@plinth/kernel/text';
import { inEnglish, type RowMessage } from './row-message';

/** One thing that is wrong with a row. It is stored and sent as JSON, so its properties keep their names. */
export interface RowErrorDetail {
  /** The property path; null where the row as a whole is meant. */
  column: string | null;
  value: string | null;
  code: string;
  /** In English. */
  message: string;
  /** The message as a key with values, where it can be localized. */
  text?: RowMessage;
}

/** Why a cell, or a row as a whole, cannot be imported. */
export interface RowError extends RowErrorDetail {
  rowNumber: number;
  kind: 'Conversion' | 'Validation' | 'Persistence' | 'Identity';
}

/** A row of a file that was not written, with everything that is wrong with it. */
export interface FailedRow {
  rowNumber: number;
  kind: RowError['kind'];
  details: RowErrorDetail[];
}

/** A row of a million characters may have an error in each of hundreds of thousands of cells. */
const ERRORS_PER_STEP = 2_000;

/** One failed row for all errors of a row, in the order of the file; grouped in steps. */
export function* groupByRow(errors: readonly RowError[]): Generator<void, FailedRow[]> {
  const rows = new Map<number, FailedRow>();
  for (const [at, { rowNumber, kind, ...detail }] of errors.entries()) {
    if (at > 0 && at % ERRORS_PER_STEP === 0) yield;
    const row = rows.get(rowNumber) ?? { rowNumber, kind, details: [] };
    row.details.push(detail);
    rows.set(rowNumber, row);
  }
  return [...rows.values()].sort((left, right) => left.rowNumber - right.rowNumber);
}

/** A row message as a row error holds it: in English, and to be localized. */
export const errorMessage = (
  text: RowMessage,
  column = '',
): Required<Pick<RowErrorDetail, 'message' | 'text'>> => ({
  message: inEnglish(text, column),
  text,
});

/** What stands in place of a secret wherever it is shown. No field that has secrets takes it for a value. */
export const SECRET = '***';

const SHOWN_VALUE_LENGTH_MAX = 200;

/** The beginning of a value, in characters that can be stored whatever the file contains. */
export function shownValue(text: string): string {
  const shown =
    text.length <= SHOWN_VALUE_LENGTH_MAX ? text : `${text.slice(0, SHOWN_VALUE_LENGTH_MAX - 1)}…`;
  return storable(shown);
}

/** An error of a row, or of one of its columns. */
export const rowErrorOf = (
  { rowNumber }: { rowNumber: number },
  kind: RowError['kind'],
  code: string,
  text: RowMessage,
  column: string | null = null,
  value: string | null = null,
): RowError => ({
  rowNumber,
  kind,
  column,
  value: value === null ? null : shownValue(value),
  code: `Service:${kind}:${code}`,
  ...errorMessage(text),
});

/** Those rows without an error. */
export function withoutRowsOf<Row extends { rowNumber: number }>(
  errors: readonly { rowNumber: number }[],
  rows: readonly Row[],
): readonly Row[] {
  if (errors.length === 0) return rows;
  const excluded = rowNumbersOf(errors);
  return rows.filter(({ rowNumber }) => !excluded.has(rowNumber));
}

/** The numbers of rows, each once. */
export const rowNumbersOf = (rows: readonly { rowNumber: number }[]): Set<number> =>
  new Set(rows.map(({ rowNumber }) => rowNumber));
