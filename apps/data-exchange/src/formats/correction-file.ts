import { correctionColumns, correctionHeaders } from '@plinth/contracts/data-exchange/correction-file';
import { describeErrors, type FailedRowWithCells } from '../domain/failed-row';
import type { CsvFormat } from './file-format';
import { writeCsvRows } from './csv-writer';
import { writeXlsx } from './xlsx-writer';
import type { SheetCell } from './xlsx-cell';

/**
 * Writes failed rows in the format of their upload, with one more column for their errors. A column of errors that the
 * upload had already is replaced.
 */
export async function* correctionFile(
  headers: readonly string[],
  { delimiter }: Pick<CsvFormat, 'delimiter'>,
  pieces: AsyncIterable<FailedRowWithCells[]>,
): AsyncGenerator<string> {
  const kept = correctionColumns(headers);
  yield writeCsvRows([correctionHeaders(headers)], delimiter);
  for await (const rows of pieces) {
    const lines = rows.map((row) => [...kept.map((index) => row.cells[index] ?? ''), describeErrors(row)]);
    yield writeCsvRows(lines, delimiter);
  }
}

/** The same as a workbook, in which an error of a formula stays one: as a text it would be taken for a value. */
export function correctionWorkbook(
  headers: readonly string[],
  pieces: AsyncIterable<FailedRowWithCells[]>,
): AsyncGenerator<Buffer> {
  const kept = correctionColumns(headers);
  const rows = async function* () {
    for await (const piece of pieces) {
      yield piece.map((row): SheetCell[] => [...cellsOf(row, kept), describeErrors(row)]);
    }
  };
  return writeXlsx(
    correctionHeaders(headers).map((header) => ({ property: header, header, type: 'string' })),
    rows(),
  );
}

/** The cells of some columns of a row. A row may have an error in each of very many cells. */
function cellsOf({ cells, errorCells }: FailedRowWithCells, columns: readonly number[]): SheetCell[] {
  const errors = new Set(errorCells);
  return columns.map((index) => {
    const text = cells[index] ?? '';
    return errors.has(index) ? { error: text } : text;
  });
}
