import { ERRORS_COLUMN } from '@plinth/contracts/data-exchange/correction-file';
import { describeErrors, type FailedRowWithCells } from '../domain/failed-row';
import type { CsvFormat } from './file-format';
import { writeCsvRows } from './csv-writer';
import { writeXlsx } from './xlsx-writer';

/**
 * Writes failed rows in the format of their upload, with one more column for their errors. A column of errors that the
 * upload had already is replaced.
 */
export async function* correctionFile(
  headers: readonly string[],
  { delimiter }: Pick<CsvFormat, 'delimiter'>,
  pieces: AsyncIterable<FailedRowWithCells[]>,
): AsyncGenerator<string> {
  const kept = keptColumns(headers);
  yield writeCsvRows([[...kept.map((index) => headers[index]!), ERRORS_COLUMN]], delimiter);
  for await (const rows of pieces) {
    const lines = rows.map((row) => [...kept.map((index) => row.cells[index] ?? ''), describeErrors(row)]);
    yield writeCsvRows(lines, delimiter);
  }
}

/** The same as a workbook. */
export function correctionWorkbook(
  headers: readonly string[],
  pieces: AsyncIterable<FailedRowWithCells[]>,
): AsyncGenerator<Buffer> {
  const kept = keptColumns(headers);
  const columns = [...kept.map((index) => headers[index]!), ERRORS_COLUMN];
  const rows = async function* () {
    for await (const piece of pieces) {
      yield piece.map((row) => [...kept.map((index) => row.cells[index] ?? ''), describeErrors(row)]);
    }
  };
  return writeXlsx(
    columns.map((header) => ({ property: header, header, type: 'string' })),
    rows(),
  );
}

const keptColumns = (headers: readonly string[]): number[] =>
  headers.flatMap((header, index) => (header === ERRORS_COLUMN ? [] : [index]));
