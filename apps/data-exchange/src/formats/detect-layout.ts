import { ColumnKinds, compareKinds, filled, isValue, kindOf, kindsOfColumns } from './cell-kind';
import type { CsvOptions, FileRecord } from './csv-reader';
import { detectQuoting } from './detect-quoting';
import { totalsOf } from './detect-totals';
import type { CsvLayout, LayoutFinding } from './file-format';
import { isRepeatedHeader, joinHeaderRows } from './header-names';
import { sampleRecords, UsualWidth, usualWidth } from './sample-records';

const PREAMBLE_RECORDS_MAX = 20;
const FOOTNOTE_RECORDS_MAX = 20;
const HEADER_ROWS_MAX = 3;
/** Rows that say of what kind their columns are. */
const ROWS_FOR_KINDS = 200;

type Delimited = Pick<CsvOptions, 'delimiter' | 'endsWithCr' | 'budget'>;

/**
 * Finds out where the table of a text file is, from its head: text above and below it, its header, other tables, quotes.
 * What a file does not clearly show is taken as usual.
 */
export function* detectLayout(head: string, options: Delimited, isWhole = false): Generator<void, CsvLayout> {
  const quoting = yield* detectQuoting(head, options);
  yield;
  const columnCount = usualWidth(yield* sampleRecords(head, { ...options, ...quoting }));
  yield;
  const records = yield* sampleRecords(head, { ...options, ...quoting, columnCount }, isWhole);
  yield;
  const preamble = yield* preambleOf(records, columnCount);
  const table = records.slice(preamble);
  const [first] = table;
  if (!first) return {};
  const findings: LayoutFinding[] = [];
  const layout: CsvLayout = { ...quoting };
  if (preamble > 0) {
    layout.headerRow = first.number;
    findings.push(finding('Preamble', first.number - 1, columnCount));
  }
  const headerRows = yield* headerRowsOf(table, columnCount);
  yield;
  if (headerRows === 0) Object.assign(layout, { headerRow: 0, rowsBegin: first.number });
  if (headerRows > 1) layout.headerRows = headerRows;
  findings.push(...headerFindings(headerRows, first.number));
  const width = Math.max(...table.slice(0, headerRows).map(({ cells }) => cells.length), 0);
  if (columnCount > 1 && width !== 1) layout.columnCount = columnCount;
  if (columnCount > width && width > 1) findings.push(finding('WiderRows', width, columnCount));
  const end = yield* endOf(table, headerRows, { columnCount, isWhole });
  findings.push(...end.findings);
  if (end.lastRow !== undefined) layout.lastRow = end.lastRow;
  // Blanks behind commas in a file of one column are its text.
  if (first.cells.length === 1) delete layout.skipsBlanks;
  findings.push(...quotingFindings(layout, options.delimiter));
  return findings.length === 0 ? layout : { ...layout, findings };
}

/** How many cells most records of a text have; as many as the first has, where there is no such number. */
export function* widthOfTable(head: string, options: Delimited): Generator<void, number> {
  return usualWidth(yield* sampleRecords(head, options));
}

/** What is unusual about a header of so many rows, from this row on. */
export function headerFindings(headerRows: number, first: number): LayoutFinding[] {
  if (headerRows === 0) return [finding('NoHeader', first)];
  return headerRows > 1 ? [finding('HeaderRows', headerRows, first)] : [];
}

const finding = (code: LayoutFinding['code'], ...args: (string | number)[]): LayoutFinding => ({
  code,
  args: args.map(String),
});

function quotingFindings({ quote, escape, skipsBlanks }: CsvLayout, delimiter: string): LayoutFinding[] {
  return [
    quote === "'" ? finding('Quote') : [],
    escape === undefined ? [] : finding('Escape', escape),
    delimiter === ' ' ? finding('BlankDelimiter') : skipsBlanks ? finding('Blanks') : [],
  ].flat();
}

/** How many records stand above the table; the first one may name the delimiter. */
function* preambleOf(records: readonly FileRecord[], width: number): Generator<void, number> {
  const named = records.length > 1 && namesDelimiter(records[0]!) ? 1 : 0;
  return named + (yield* preambleBelow(records.slice(named), width));
}

/** The same without that line. One line above two columns may as well be their header. */
function* preambleBelow(records: readonly FileRecord[], width: number): Generator<void, number> {
  let first = records.findIndex(({ cells }) => cells.length === width && filled(cells) * 2 > width);
  if (first <= 0 || first > PREAMBLE_RECORDS_MAX) return 0;
  if (isSpanning(records[first - 1]!, records[first]!, width)) first--;
  const above = records.slice(0, first);
  if (above.length === 0) return 0;
  let isText = true;
  for (const record of above)
    isText &&= filled(record.cells) * 2 <= width || (yield* isNote(record, records.slice(first)));
  const hasGap = records[first]!.number - records[first - 1]!.number > 1;
  return isText && (width > 2 || hasGap || above.length > 1) ? first : 0;
}

/** Whether a record is the line `sep=;`, as it is split or as one cell. */
const namesDelimiter = ({ cells }: FileRecord): boolean =>
  filled(cells) === 1 && /^sep=[,;|\t]?$/i.test(cells[0]!.trim());

/**
 * Whether a record is wider than the table below it and holds values, as DATEV puts what a file is about there. That table
 * begins with names, which its rows are unlike: else the record is a header with a delimiter too many.
 */
function* isNote(above: FileRecord, [header, ...rows]: readonly FileRecord[]): Generator<void, boolean> {
  const { cells } = header!;
  if (above.cells.length <= cells.length || !above.cells.some(isValue)) return false;
  const { texts } = compareKinds(cells, yield* kindsOfColumns(rows.slice(0, ROWS_FOR_KINDS), cells.length));
  return texts > 0 && cells.every((cell) => kindOf(cell) === 'text');
}

/** Whether a record has names for several columns each, above the names of the columns. */
export const isSpanning = (upper: FileRecord, lower: FileRecord, width: number): boolean =>
  upper.cells.length === width &&
  filled(upper.cells) >= 2 &&
  !upper.cells.some((cell) => cell.trimEnd().endsWith(':')) &&
  lower.number - upper.number === 1 &&
  [...upper.cells, ...lower.cells].every(
    (cell) => ['blank', 'text'].includes(kindOf(cell)) || /^\d{4}$/.test(cell),
  );

/** How many records of a table are its header: none, if the first is like the rows below it. */
export function* headerRowsOf(table: readonly FileRecord[], width: number): Generator<void, number> {
  const kindsBelow = (row: number) => kindsOfColumns(table.slice(row, row + ROWS_FOR_KINDS), width);
  if (table.length >= 3) {
    const { alike, texts, others } = compareKinds(table[0]!.cells, yield* kindsBelow(1));
    if (alike > 0 && texts === 0 && others === 0) return 0;
  }
  let rows = 1;
  while (rows < HEADER_ROWS_MAX && table.length >= rows + 3) {
    const next = table[rows]!;
    if (next.cells.length !== table[0]!.cells.length) break;
    const { alike, texts, others } = compareKinds(next.cells, yield* kindsBelow(rows + 1));
    const isText = alike === 0 && others === 0 && texts > 0 && !next.cells.some(isNumber);
    const fillsBlanks = table[rows - 1]!.cells.some(
      (cell, column) => cell.trim() === '' && next.cells[column]!.trim() !== '',
    );
    if (!isSame(table[0]!.cells, next.cells) && !(isText && (texts >= 2 || fillsBlanks))) break;
    rows++;
  }
  return rows;
}

/** Whether a cell is a number that stands in no second row of a header, as years do. */
const isNumber = (cell: string): boolean => kindOf(cell) === 'number' && !/^(?:19|20)\d\d$/.test(cell.trim());

const isSame = (left: readonly string[], right: readonly string[]): boolean =>
  left.length > 1 &&
  left.length === right.length &&
  left.every((cell, index) => cell.trim() === right[index]!.trim());

const RECORDS_PER_STEP = 1_000;

/** Where a table ends, if something else follows in the sample: another table, its totals, or text. */
export function* endOf(
  table: readonly FileRecord[],
  headerRows: number,
  { columnCount, isWhole }: { columnCount: number; isWhole: boolean },
): Generator<void, { lastRow?: number; findings: LayoutFinding[] }> {
  const findings: LayoutFinding[] = [];
  const header = joinHeaderRows(table.slice(0, headerRows).map(({ cells }) => cells));
  const rows = table.slice(headerRows);
  const beginsTable = tableBeginnings(rows, header);
  const cellsPerRecord = Math.max(1, columnCount);
  for (let index = 1; index < rows.length; index++) {
    if (index % Math.ceil(RECORDS_PER_STEP / cellsPerRecord) === 0) yield;
    const { number, cells } = rows[index]!;
    const isBeginning = beginsTable(index);
    if (isRepeatedHeader(cells, header)) {
      if (!findings.some(({ code }) => code === 'RepeatedHeader'))
        findings.push(finding('RepeatedHeader', number));
    } else if (isBeginning) {
      findings.push(finding('Tables', number, number - 1));
      return { lastRow: number - 1, findings };
    }
  }
  if (!isWhole) return { findings };
  yield;
  const body = rows.slice(0, rows.length - footnotesOf(rows, columnCount));
  const rowCount = body.length - totalsOf(body, columnCount);
  if (rowCount < body.length) findings.push(finding('Totals', rows[rowCount]!.number));
  if (body.length < rows.length) findings.push(finding('Footnote', rows[body.length]!.number));
  return rowCount === rows.length ? { findings } : { lastRow: rows[rowCount]!.number - 1, findings };
}

/**
 * Whether a record is the header of another table, by its index: it has most names of the first, or stands alone below a
 * gap. It is asked for one record after the other, and each costs the same, however many stand above and below it.
 */
function tableBeginnings(rows: readonly FileRecord[], header: readonly string[]): (index: number) => boolean {
  const names = new Set(header.filter((name) => name !== ''));
  const hasMostNames = (cells: readonly string[]): boolean => {
    const shared = cells.filter((cell) => names.has(cell.trim())).length;
    return shared >= 2 && shared * 2 > Math.max(filled(cells), names.size);
  };
  const above = new ColumnKinds(header.length);
  const widthAbove = new UsualWidth();
  const widthsBelow = usualWidthsFrom(rows);
  const isOfNames = rows.length > 0 && hasMostNames(rows[0]!.cells);
  return (index) => {
    const before = rows[index - 1]!;
    widthAbove.add(before);
    if (filled(before.cells) > 1) above.add(before);
    const { number, cells } = rows[index]!;
    const next = rows[index + 1];
    if (!next || cells.length < 2) return false;
    const isText = cells.every((cell) => kindOf(cell) === 'text');
    // A table whose values are the names of its columns has them from its first row on.
    if (hasMostNames(cells)) return !isOfNames;
    const isApart = number - before.number > 1 || filled(before.cells) <= 1;
    if (!isText || !isApart || next.cells.length !== cells.length) return false;
    // Else the records above are as wide as each other, and those from here on as wide as each other.
    return cells.length === before.cells.length
      ? compareKinds(cells, above.first(cells.length)).texts >= 2
      : cells.length !== widthAbove.orElse(rows[0]!.cells.length) && widthsBelow[index] === cells.length;
  };
}

/** How many cells most of the records from each one on have. */
function usualWidthsFrom(rows: readonly FileRecord[]): number[] {
  const widths: number[] = [];
  const below = new UsualWidth();
  for (let index = rows.length - 1; index >= 0; index--) {
    below.add(rows[index]!);
    widths[index] = below.orElse(rows[index]!.cells.length);
  }
  return widths;
}

/** A value alone, such as an id or a mark, is a row whose other cells are blank. */
const mayBeNote = (cells: readonly string[]): boolean =>
  filled(cells) <= 1 && cells.every((cell) => cell.trim() === '' || isWords(cell));

const isWords = (cell: string): boolean => kindOf(cell) === 'text' && /\p{L}/u.test(cell);

/** How many records at the end are no rows: at most one cell of them is filled, with text, and a gap is above them. */
function footnotesOf(rows: readonly FileRecord[], columnCount: number): number {
  if (columnCount < 3) return 0;
  let first = rows.length;
  while (first > 1 && mayBeNote(rows[first - 1]!.cells)) first--;
  const notes = rows.length - first;
  if (notes === 0 || notes > FOOTNOTE_RECORDS_MAX) return 0;
  const isApart = rows[first]!.number - rows[first - 1]!.number > 1 || filled(rows[first]!.cells) === 0;
  const hasText = rows.slice(first).some(({ cells }) => filled(cells) > 0);
  return isApart && hasText ? notes : 0;
}
