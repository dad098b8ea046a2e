import type { PassThrough } from 'node:stream';
import ExcelJS from 'exceljs';
import type { Cell } from './csv-writer';
import type { FileColumn } from './write-file';

/** A sheet ends at row 1,048,576, the header included. */
const SHEET_ROWS_MAX = 1_048_575;
const CELL_LENGTH_MAX = 32_767;
const COLUMN_WIDTH_MIN = 12;
const COLUMN_WIDTH_MAX = 60;

/** Writes a workbook while the rows come; text is always text, never a formula. When a sheet is full the next one begins. */
export async function* writeXlsx(
  columns: readonly FileColumn[],
  pieces: AsyncIterable<Cell[][]>,
  output: PassThrough,
): AsyncGenerator<Buffer> {
  const writing = write(columns, pieces, output);
  writing.catch((error: Error) => output.destroy(error));
  yield* output as AsyncIterable<Buffer>;
  await writing;
}

async function write(
  columns: readonly FileColumn[],
  pieces: AsyncIterable<Cell[][]>,
  output: PassThrough,
): Promise<void> {
  const workbook = new ExcelJS.stream.xlsx.WorkbookWriter({
    stream: output,
    useSharedStrings: false,
    useStyles: true,
  });
  let sheet = addSheet(workbook, columns, 1);
  let sheets = 1;
  let rowsOfSheet = 0;
  for await (const rows of pieces) {
    for (const row of rows) {
      if (rowsOfSheet === SHEET_ROWS_MAX) {
        await sheet.commit();
        sheet = addSheet(workbook, columns, ++sheets);
        rowsOfSheet = 0;
      }
      sheet.addRow(row.map((cell, index) => typedCell(cell, columns[index]!))).commit();
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
    ...(type === 'timestamp' ? { style: { numFmt: 'yyyy-mm-dd hh:mm:ss' } } : {}),
    ...(type === 'date' ? { style: { numFmt: 'yyyy-mm-dd' } } : {}),
  }));
  const header = sheet.addRow(columns.map((column) => column.header));
  header.font = { bold: true };
  header.commit();
  return sheet;
}

function typedCell(cell: Cell, { type }: FileColumn): ExcelJS.CellValue {
  if (typeof cell !== 'string') return cell;
  if (type === 'timestamp' || type === 'date') return new Date(cell);
  return cell.length > CELL_LENGTH_MAX ? cell.slice(0, CELL_LENGTH_MAX) : cell;
}
