import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { Cell as SheetCell, Worksheet } from 'exceljs';
import { LimitError } from '../language/meter';
import type { Cell, Table } from './html';

const SHEETS_MAX = 100;
const CELLS_MAX = 200_000;
const ROWS_MAX = 1_048_576;
const COLUMNS_MAX = 16_384;
const TEXT_LENGTH_MAX = 32_767;
const WIDTH_MAX = 60;

/** Writes tables as a workbook, a sheet each. Data is always written as values, never as formulas. */
export async function workbookOf(tables: readonly Table[]): Promise<Uint8Array> {
  if (tables.length > SHEETS_MAX || cellsOf(tables) > CELLS_MAX) throw new LimitError('output');
  const { stream } = (await import('exceljs')).default;
  const output = new PassThrough();
  const collected = buffer(output);
  const workbook = new stream.xlsx.WorkbookWriter({
    stream: output,
    useStyles: true,
    useSharedStrings: true,
  });
  const names = new Set<string>();
  for (const [index, table] of tables.entries()) {
    const sheet = workbook.addWorksheet(sheetName(table.name, index, names));
    writeTable(sheet, table);
    sheet.commit();
  }
  await workbook.commit();
  return collected;
}

const cellsOf = (tables: readonly Table[]): number =>
  tables.reduce((count, { rows }) => count + rows.reduce((total, row) => total + row.length, 0), 0);

/** Excel wants sheet names short, unique without regard to case, and without some characters. */
function sheetName(wanted: string | undefined, index: number, taken: Set<string>): string {
  const clean = (wanted ?? '')
    .replace(/[\p{Cc}[\]:*?/\\]/gu, ' ')
    .replace(/^'+|'+$/g, '')
    .replace(/\s+/g, ' ')
    .trim();
  const base = clean === '' || clean.toLowerCase() === 'history' ? `Sheet${index + 1}` : clean;
  for (let copy = 1; ; copy++) {
    const suffix = copy === 1 ? '' : ` (${copy})`;
    const name = base.slice(0, 31 - suffix.length).toWellFormed() + suffix;
    if (taken.has(name.toLowerCase())) continue;
    taken.add(name.toLowerCase());
    return name;
  }
}

function writeTable(sheet: Worksheet, { rows }: Table): void {
  if (rows.length > ROWS_MAX) throw new LimitError('output');
  setWidths(sheet, rows);
  const taken = new Set<string>();
  rows.forEach((cells, index) => {
    const rowNumber = index + 1;
    let column = 1;
    for (const cell of cells) {
      while (taken.delete(`${rowNumber}:${column}`)) column++;
      if (column > COLUMNS_MAX) throw new LimitError('output');
      writeCell(sheet.getCell(rowNumber, column), cell);
      column = occupy(sheet, rowNumber, column, cell, taken);
    }
    sheet.getRow(rowNumber).commit();
  });
}

/** Merges what a cell spans; returns the next free column. */
function occupy(sheet: Worksheet, row: number, column: number, cell: Cell, taken: Set<string>): number {
  const lastColumn = Math.min(column + cell.columns - 1, COLUMNS_MAX);
  const lastRow = Math.min(row + cell.rows - 1, ROWS_MAX);
  if (taken.size + (lastRow - row) * (lastColumn - column + 1) > CELLS_MAX) throw new LimitError('output');
  for (let below = row + 1; below <= lastRow; below++) {
    for (let across = column; across <= lastColumn; across++) taken.add(`${below}:${across}`);
  }
  if (lastColumn > column || lastRow > row) sheet.mergeCells(row, column, lastRow, lastColumn);
  return lastColumn + 1;
}

function setWidths(sheet: Worksheet, rows: readonly Cell[][]): void {
  const widths: number[] = [];
  for (const cells of rows.slice(0, 1_000)) {
    cells.forEach(({ text, columns }, index) => {
      if (columns === 1) widths[index] = Math.max(widths[index] ?? 8, Math.min(text.length + 2, WIDTH_MAX));
    });
  }
  sheet.columns = [...widths].map((width) => ({ width: width ?? 8 }));
}

function writeCell(target: SheetCell, cell: Cell): void {
  const typed = typedValue(cell);
  target.value = typed ?? textValue(cell.text);
  if (cell.isHeader) target.font = { bold: true };
  if (cell.format && typed !== undefined) target.numFmt = cell.format.slice(0, 100);
  else if (typed instanceof Date)
    target.numFmt = /T\d/.test(cell.value ?? cell.text) ? 'yyyy-mm-dd hh:mm' : 'yyyy-mm-dd';
  const horizontal = ['left', 'right', 'center'].find((side) => side === cell.align?.toLowerCase());
  const wrapText = cell.text.includes('\n');
  if (horizontal || wrapText) {
    target.alignment = {
      ...(horizontal ? { horizontal: horizontal as 'left' | 'right' | 'center' } : {}),
      ...(wrapText ? { wrapText } : {}),
    };
  }
}

/** The value that `data-type` promises; undefined where the text does not keep the promise. */
function typedValue({ type, value, text }: Cell): number | boolean | Date | undefined {
  const raw = (value ?? text).trim();
  if (raw === '') return undefined;
  if (type === 'number') {
    const number = Number(raw.replace(/[\s\u00a0\u202f]/g, ''));
    return Number.isFinite(number) ? number : undefined;
  }
  if (type === 'boolean') {
    if (/^(true|yes|1)$/i.test(raw)) return true;
    return /^(false|no|0)$/i.test(raw) ? false : undefined;
  }
  if (type !== 'date' || !/^\d{4}-\d\d-\d\d(T[\d:.]+(Z|[+-]\d\d:?\d\d)?)?$/i.test(raw)) return undefined;
  const hasZone = raw.length === 10 || /(Z|[+-]\d\d:?\d\d)$/i.test(raw.slice(10));
  const date = new Date(hasZone ? raw : `${raw}Z`);
  return Number.isNaN(date.getTime()) ? undefined : date;
}

/** XML cannot hold most control characters. */
const textValue = (text: string): string =>
  text
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '')
    .toWellFormed()
    .slice(0, TEXT_LENGTH_MAX);
