import type { PassThrough } from 'node:stream';
import ExcelJS from 'exceljs';
import type { Cell } from './csv-writer';
import { isNumeric, type FileColumn } from './file-column';

/** A sheet ends at row 1,048,576, the header included. */
const SHEET_ROWS_MAX = 1_048_575;
const CELL_LENGTH_MAX = 32_767;
const DIGITS_MAX = 15;
const HEADER_FILL: ExcelJS.Fill = {
  type: 'pattern',
  pattern: 'solid',
  fgColor: { argb: 'FFE7E6E6' },
};
const COLUMN_WIDTH_MIN = 12;
const COLUMN_WIDTH_MAX = 60;

/** Writes a workbook while the rows come; text is always text, never a formula. When a sheet is full the next one begins. */
export async function* writeXlsx(
  columns: readonly FileColumn[],
  pieces: AsyncIterable<Cell[][]>,
  output: PassThrough,
  sheetRowsMax = SHEET_ROWS_MAX,
): AsyncGenerator<Buffer> {
  const writing = write(columns, pieces, output, sheetRowsMax);
  writing.catch((error: Error) => output.destroy(error));
  yield* output as AsyncIterable<Buffer>;
  await writing;
}

async function write(
  columns: readonly FileColumn[],
  pieces: AsyncIterable<Cell[][]>,
  output: PassThrough,
  sheetRowsMax: number,
): Promise<void> {
  const workbook = new ExcelJS.stream.xlsx.WorkbookWriter({
    stream: output,
    useSharedStrings: false,
    useStyles: true,
  });
  const styles = columns.map(styleOf);
  let sheet = addSheet(workbook, columns, 1);
  let sheets = 1;
  let rowsOfSheet = 0;
  for await (const rows of pieces) {
    for (const row of rows) {
      if (rowsOfSheet === sheetRowsMax) {
        await sheet.commit();
        sheet = addSheet(workbook, columns, ++sheets);
        rowsOfSheet = 0;
      }
      const added = sheet.addRow(row.map((cell, index) => typedCell(cell, columns[index]!)));
      shareStyles(added, styles);
      added.commit();
      rowsOfSheet++;
    }
    // The library does not wait for a slow reader, so that rows would pile up in memory.
    while (output.readableLength > output.readableHighWaterMark * 16)
      await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await sheet.commit();
  await workbook.commit();
}

function addSheet(
  workbook: ExcelJS.stream.xlsx.WorkbookWriter,
  columns: readonly FileColumn[],
  number: number,
): ExcelJS.Worksheet {
  const sheet = workbook.addWorksheet(number === 1 ? 'Export' : `Export ${number}`, {
    views: [{ state: 'frozen', ySplit: 1 }],
  });
  sheet.columns = columns.map(({ header, type }) => ({
    width: Math.min(
      COLUMN_WIDTH_MAX,
      Math.max(COLUMN_WIDTH_MIN, header.length + 4, type === 'string' ? 30 : 0),
    ),
    style: styleOf({ type }),
  }));
  const header = sheet.addRow(columns.map((column) => column.header));
  header.font = { bold: true };
  header.fill = HEADER_FILL;
  header.commit();
  return sheet;
}

const styleOf = ({ type }: Pick<FileColumn, 'type'>): Partial<ExcelJS.Style> => {
  if (type === 'timestamp') return { numFmt: 'yyyy-mm-dd hh:mm:ss' };
  return type === 'date' ? { numFmt: 'yyyy-mm-dd' } : {};
};

const PLAIN: Partial<ExcelJS.Style> = {};

/** The library works out each style object anew that it has not seen: one for a column is enough for all of its cells. */
function shareStyles(row: ExcelJS.Row, styles: readonly Partial<ExcelJS.Style>[]): void {
  Object.assign(row, { style: PLAIN });
  row.eachCell((cell, column) => {
    cell.style = styles[column - 1]!;
  });
}

function typedCell(cell: Cell, { type }: FileColumn): ExcelJS.CellValue {
  if (typeof cell === 'number' || isNumeric(type)) return numberCell(cell);
  if (typeof cell !== 'string') return cell;
  if (type === 'timestamp' || type === 'date') return dateCell(cell);
  return escapeText(cell.length > CELL_LENGTH_MAX ? cell.slice(0, CELL_LENGTH_MAX) : cell);
}

/** Spreadsheets know no day before 1900, and count wrongly up to its March. */
const dateCell = (cell: string): ExcelJS.CellValue => (cell < '1900-03-01' ? cell : new Date(cell));

/** Spreadsheets know fifteen digits; a number with more of them stays whole as text. */
function numberCell(cell: Cell): ExcelJS.CellValue {
  if (cell === null || typeof cell === 'boolean') return cell;
  const digits = String(cell).replace(/e.*$/i, '').replace(/\D/g, '').replace(/^0+/, '');
  return digits.length > DIGITS_MAX ? String(cell) : Number(cell);
}

const MUST_BE_ESCAPED = /[\0-\x08\x0b-\x1f\ufffe\uffff]|_x[\da-f]{4}_/i;

/** Writes what XML cannot hold, or would change, as workbooks do: `_x000D_`. */
const escapeText = (text: string): string =>
  MUST_BE_ESCAPED.test(text)
    ? text.replace(/_x[\da-f]{4}_/gi, '_x005F$&').replace(/[\0-\x08\x0b-\x1f\ufffe\uffff]/g, (character) => {
        const code = character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
        return `_x${code}_`;
      })
    : text;
