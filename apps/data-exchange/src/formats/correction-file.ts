import { describeFailure } from '../domain/failed-row';
import type { StoredFailedRow } from '../store/import-store';
import type { CsvFormat } from './file-format';
import { writeCsvRows } from './csv-writer';
import { writeXlsx } from './xlsx-writer';

export const ERRORS_COLUMN = '_Errors';

/**
 * Writes failed rows as the file they came from was written, with one more column that says what is wrong.
 * A column of errors that the upload had already is replaced.
 */
export async function* correctionFile(
  headers: readonly string[],
  { delimiter }: Pick<CsvFormat, 'delimiter'>,
  pieces: AsyncIterable<StoredFailedRow[]>,
): AsyncGenerator<string> {
  const kept = keptColumns(headers);
  yield writeCsvRows([[...kept.map((index) => headers[index]!), ERRORS_COLUMN]], delimiter);
  for await (const rows of pieces) {
    const lines = rows.map((row) => [...kept.map((index) => row.cells[index] ?? ''), describeFailure(row)]);
    yield writeCsvRows(lines, delimiter);
  }
}

/** The same as a workbook. */
export function correctionWorkbook(
  headers: readonly string[],
  pieces: AsyncIterable<StoredFailedRow[]>,
): AsyncGenerator<Buffer> {
  const kept = keptColumns(headers);
  const columns = [...kept.map((index) => headers[index]!), ERRORS_COLUMN];
  const rows = async function* () {
    for await (const piece of pieces) {
      yield piece.map((row) => [...kept.map((index) => row.cells[index] ?? ''), describeFailure(row)]);
    }
  };
  return writeXlsx(
    columns.map((header) => ({ property: header, header, type: 'string' })),
    rows(),
  );
}

const keptColumns = (headers: readonly string[]): number[] =>
  headers.flatMap((header, index) => (header === ERRORS_COLUMN ? [] : [index]));
