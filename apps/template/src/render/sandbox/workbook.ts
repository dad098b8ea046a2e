import { buffer } from 'node:stream/consumers';
import { columnLetters, dayNumber, textXml } from '@plinth/exchange/workbook/cell-xml';
import {
  BOLD_FONT,
  sheetBegin,
  sheetEnd,
  sheetPart,
  workbookParts,
  type Styles,
} from '@plinth/exchange/workbook/package-parts';
import { ZipFile } from 'yazl';
import { isCalendarDay } from '@plinth/kernel/instant';
import { LimitError } from '../language/meter';
import type { Cell, Table } from './html';

const SHEETS_MAX = 100;
const CELLS_MAX = 200_000;
const ROWS_MAX = 1_048_576;
const COLUMNS_MAX = 16_384;
const WIDTH_MIN = 8;
const WIDTH_MAX = 60;
const WIDTH_ROWS_MAX = 1_000;
const FORMAT_LENGTH_MAX = 100;
/** Spreadsheets know some hundred formats of their own. */
const OWN_FORMATS_FROM = 164;

/** Writes tables as a workbook, a sheet each. Data is always written as values, never as formulas. */
export async function workbookOf(tables: readonly Table[]): Promise<Uint8Array> {
  if (tables.length > SHEETS_MAX || cellsOf(tables) > CELLS_MAX) throw new LimitError('output');
  const zip = new ZipFile();
  const collected = buffer(zip.outputStream as unknown as AsyncIterable<Buffer>);
  const styles = new StyleTable();
  const taken = new Set<string>();
  const names = tables.map(({ name }, index) => sheetName(name, index, taken));
  for (const [index, table] of tables.entries())
    zip.addBuffer(Buffer.from(sheetXml(table, styles)), sheetPart(index + 1));
  for (const [name, xml] of Object.entries(workbookParts(names, styles)))
    zip.addBuffer(Buffer.from(xml), name);
  zip.end();
  return collected;
}

const cellsOf = (tables: readonly Table[]): number =>
  tables.reduce((count, { rows }) => count + rows.reduce((total, row) => total + row.length, 0), 0);

/** Of what a sheet is to be called; a name has 31 characters. */
const NAME_SOURCE_LENGTH_MAX = 1_000;

/** Excel wants sheet names short, unique without regard to case, and without some characters. */
function sheetName(wanted: string | undefined, index: number, taken: Set<string>): string {
  const clean = (wanted ?? '')
    .slice(0, NAME_SOURCE_LENGTH_MAX)
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

/** The styles of a workbook, each once. */
class StyleTable implements Styles {
  readonly numberFormats = new Map<number, string>();
  readonly cells = ['<xf/>'];
  private readonly formatIds = new Map<string, number>();
  private readonly indexes = new Map<string, number>([['<xf/>', 0]]);

  /** The attribute that gives a cell its style. */
  attribute({ format, isBold, horizontal, wrapsText }: Style): string {
    const number = format === undefined ? '' : ` numFmtId="${this.idOf(format)}" applyNumberFormat="1"`;
    const font = isBold ? ` fontId="${BOLD_FONT}" applyFont="1"` : '';
    const side = horizontal === undefined ? '' : ` horizontal="${horizontal}"`;
    const alignment = side + (wrapsText ? ' wrapText="1"' : '');
    const xml =
      alignment === ''
        ? `<xf${number}${font}/>`
        : `<xf${number}${font} applyAlignment="1"><alignment${alignment}/></xf>`;
    let index = this.indexes.get(xml);
    if (index === undefined) this.indexes.set(xml, (index = this.cells.push(xml) - 1));
    return index === 0 ? '' : ` s="${index}"`;
  }

  private idOf(format: string): number {
    let id = this.formatIds.get(format);
    if (id === undefined) this.formatIds.set(format, (id = OWN_FORMATS_FROM + this.formatIds.size));
    this.numberFormats.set(id, format);
    return id;
  }
}

interface Style {
  format: string | undefined;
  isBold: boolean;
  horizontal: string | undefined;
  wrapsText: boolean;
}

function sheetXml({ rows }: Table, styles: StyleTable): string {
  if (rows.length > ROWS_MAX) throw new LimitError('output');
  const xml = [sheetBegin({ columns: columnsXml(rows) })];
  const taken = new Set<string>();
  const merged: string[] = [];
  rows.forEach((cells, index) => {
    const row = index + 1;
    let column = 1;
    xml.push(`<row r="${row}">`);
    for (const cell of cells) {
      while (taken.delete(`${row}:${column}`)) column++;
      if (column > COLUMNS_MAX) throw new LimitError('output');
      xml.push(cellXml(referenceOf(column, row), cell, styles));
      column = occupy({ row, column, cell, taken, merged });
    }
    xml.push('</row>');
  });
  return [...xml, sheetEnd(merged)].join('');
}

const referenceOf = (column: number, row: number): string => `${columnLetters(column - 1)}${row}`;

interface Place {
  row: number;
  column: number;
  cell: Cell;
  taken: Set<string>;
  merged: string[];
}

/** Merges what a cell spans; returns the next free column. */
function occupy({ row, column, cell, taken, merged }: Place): number {
  const end = Math.min(column + cell.columns - 1, COLUMNS_MAX);
  let lastColumn = column;
  // Ranges that overlap would break the workbook.
  while (lastColumn < end && !taken.has(`${row}:${lastColumn + 1}`)) lastColumn++;
  const lastRow = Math.min(row + cell.rows - 1, ROWS_MAX);
  if (taken.size + (lastRow - row) * (lastColumn - column + 1) > CELLS_MAX) throw new LimitError('output');
  for (let below = row + 1; below <= lastRow; below++) {
    for (let across = column; across <= lastColumn; across++) taken.add(`${below}:${across}`);
  }
  if (lastColumn > column || lastRow > row)
    merged.push(`${referenceOf(column, row)}:${referenceOf(lastColumn, lastRow)}`);
  return lastColumn + 1;
}

function columnsXml(rows: readonly Cell[][]): string {
  const widths: number[] = [];
  for (const cells of rows.slice(0, WIDTH_ROWS_MAX)) {
    cells.forEach(({ text, columns }, index) => {
      if (columns === 1)
        widths[index] = Math.max(widths[index] ?? WIDTH_MIN, Math.min(text.length + 2, WIDTH_MAX));
    });
  }
  return [...widths.slice(0, COLUMNS_MAX)]
    .map(
      (width, index) =>
        `<col min="${index + 1}" max="${index + 1}" width="${width ?? WIDTH_MIN}" customWidth="1"/>`,
    )
    .join('');
}

function cellXml(reference: string, cell: Cell, styles: StyleTable): string {
  const typed = typedValue(cell);
  const style = styles.attribute({
    format: typed === undefined ? undefined : formatOf(cell, typed),
    isBold: cell.isHeader,
    horizontal: ['left', 'right', 'center'].find((side) => side === cell.align?.toLowerCase()),
    wrapsText: cell.text.includes('\n'),
  });
  if (typed === undefined) return textXml(reference, textValue(cell.text), style);
  if (typeof typed === 'boolean') return `<c r="${reference}"${style} t="b"><v>${Number(typed)}</v></c>`;
  const number = typeof typed === 'number' ? typed : dayNumber(typed.getTime());
  return `<c r="${reference}"${style}><v>${number}</v></c>`;
}

function formatOf(cell: Cell, value: number | boolean | Date): string | undefined {
  if (cell.format) return textValue(cell.format.slice(0, FORMAT_LENGTH_MAX));
  if (!(value instanceof Date)) return undefined;
  return /T\d/.test(cell.value ?? cell.text) ? 'yyyy-mm-dd hh:mm' : 'yyyy-mm-dd';
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
  return Number.isNaN(date.getTime()) || !isCalendarDay(raw) ? undefined : date;
}

/** XML cannot hold most control characters. */
const textValue = (text: string): string =>
  text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '').toWellFormed();
