import type { ExportFormat } from '@plinth/contracts/data-exchange/shapes';
import { copiedToCsv } from './copied-csv';
import { copiedRows, readCopiedRow } from '@plinth/exchange/export/copy-text';
import { writeCsvRows, type Cell } from './csv-writer';
import { isNumeric, type FileColumn } from './file-column';
import { writeXlsx } from './xlsx-writer';

const BOM = Buffer.from('efbbbf', 'hex');

/** Writes rows that `COPY` wrote as a file of a format, piece by piece. */
export function writeFile(
  format: ExportFormat,
  columns: readonly FileColumn[],
  pieces: AsyncIterable<Buffer>,
): AsyncIterable<Buffer> {
  switch (format) {
    case 'csv':
      return writeCsv(columns, pieces);
    case 'json':
      return writeJsonLines(columns, cellsOf(pieces));
    case 'xlsx':
      return writeXlsx(columns, cellsOf(pieces));
  }
}

async function* cellsOf(pieces: AsyncIterable<Buffer>): AsyncGenerator<Cell[][]> {
  for await (const lines of pieces) {
    for (const rows of copiedRows(lines)) yield rows.map(readCopiedRow);
  }
}

/** UTF-8 with a byte order mark, without which spreadsheets do not read it as UTF-8. */
async function* writeCsv(
  columns: readonly FileColumn[],
  pieces: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  yield BOM;
  yield Buffer.from(writeCsvRows([columns.map(({ header }) => header)]));
  for await (const lines of pieces) yield copiedToCsv(lines);
}

async function* writeJsonLines(
  columns: readonly FileColumn[],
  pieces: AsyncIterable<Cell[][]>,
): AsyncGenerator<Buffer> {
  const fields = columns.map(({ property, type }) => ({ name: JSON.stringify(property), type }));
  const line = (row: Cell[]): string =>
    `{${fields.map(({ name, type }, index) => `${name}:${jsonCell(row[index] ?? null, type)}`).join(',')}}\n`;
  for await (const rows of pieces) yield Buffer.from(rows.map(line).join(''));
}

const JSON_NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?(e[+-]?\d+)?$/i;

/** Numbers are written with all their digits. */
function jsonCell(cell: Cell, type: string): string {
  const isLiteral = cell !== null && (type === 'boolean' || (isNumeric(type) && JSON_NUMBER.test(cell)));
  return isLiteral ? cell : JSON.stringify(cell);
}
