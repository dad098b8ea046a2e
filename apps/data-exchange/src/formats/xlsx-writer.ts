import { once } from 'node:events';
import { PassThrough, type Readable } from 'node:stream';
import { columnLetters, textXml } from '@plinth/exchange/workbook/cell-xml';
import { sheetBegin, sheetEnd, sheetPart, workbookParts } from '@plinth/exchange/workbook/package-parts';
import { ZipFile } from 'yazl';
import type { FileColumn } from './file-column';
import { cellXml, type SheetCell } from './xlsx-cell';
import { headerView, HEADER_STYLE, styleOf, styles } from './xlsx-parts';

/** A sheet ends at row 1,048,576, the header included. */
const SHEET_ROWS_MAX = 1_048_575;
const COLUMN_WIDTH_MIN = 12;
const COLUMN_WIDTH_MAX = 60;

/** Writes a workbook while the rows come, as fast as it is read. When a sheet is full the next one begins. */
export async function* writeXlsx(
  columns: readonly FileColumn[],
  pieces: AsyncIterable<SheetCell[][]>,
  sheetRowsMax = SHEET_ROWS_MAX,
): AsyncGenerator<Buffer> {
  const zip = new ZipFile();
  const output = zip.outputStream as Readable;
  const abandoned = new AbortController();
  const writing = writeParts(zip, { columns, pieces, sheetRowsMax, signal: abandoned.signal });
  writing.catch((error: Error) => output.destroy(error));
  try {
    yield* output as AsyncIterable<Buffer>;
  } finally {
    abandoned.abort();
  }
}

interface Workbook {
  columns: readonly FileColumn[];
  pieces: AsyncIterable<SheetCell[][]>;
  sheetRowsMax: number;
  signal: AbortSignal;
}

async function writeParts(zip: ZipFile, { columns, pieces, sheetRowsMax, signal }: Workbook): Promise<void> {
  const names: string[] = [];
  const addSheet = (): PassThrough => {
    const number = names.push(names.length === 0 ? 'Export' : `Export ${names.length + 1}`);
    const sheet = new PassThrough();
    zip.addReadStream(sheet, sheetPart(number));
    sheet.write(
      sheetBegin({ views: headerView, columns: columns.map(columnXml).join('') }) + headerXml(columns),
    );
    return sheet;
  };

  const rowXml = rowWriter(columns);
  let sheet = addSheet();
  let rowsOfSheet = 0;
  for await (const rows of pieces) {
    for (let rest = rows; rest.length > 0;) {
      if (rowsOfSheet === sheetRowsMax) {
        sheet.end(sheetEnd());
        sheet = addSheet();
        rowsOfSheet = 0;
      }
      const fitting = rest.slice(0, sheetRowsMax - rowsOfSheet);
      const begin = rowsOfSheet + 2;
      const xml = fitting.map((row, index) => rowXml(row, begin + index)).join('');
      signal.throwIfAborted();
      if (!sheet.write(xml)) await once(sheet, 'drain', { signal });
      rowsOfSheet += fitting.length;
      rest = rest.slice(fitting.length);
    }
  }
  sheet.end(sheetEnd());
  for (const [name, xml] of Object.entries(workbookParts(names, styles)))
    zip.addBuffer(Buffer.from(xml), name);
  zip.end();
}

/** Makes the function that writes one row of these columns. */
function rowWriter(columns: readonly FileColumn[]): (row: readonly SheetCell[], number: number) => string {
  const places = columns.map(({ type }, index) => ({ letters: columnLetters(index), type }));
  return (row, number) => {
    let cells = '';
    for (const [index, { letters, type }] of places.entries())
      cells += cellXml(`${letters}${number}`, row[index] ?? null, type);
    return `<row r="${number}">${cells}</row>`;
  };
}

const headerXml = (columns: readonly FileColumn[]): string =>
  `<row r="1">${columns.map(({ header }, index) => textXml(`${columnLetters(index)}1`, header, ` s="${HEADER_STYLE}"`)).join('')}</row>`;

function columnXml({ header, type }: FileColumn, index: number): string {
  const room = Math.max(COLUMN_WIDTH_MIN, header.length + 4, type === 'string' ? 30 : 0);
  const width = Math.min(COLUMN_WIDTH_MAX, room);
  const number = index + 1;
  return `<col min="${number}" max="${number}" width="${width}" customWidth="1" style="${styleOf(type)}"/>`;
}
