import { readAmount } from '@plinth/exchange/import/amount';
import { isBlank } from './cell-kind';
import type { FileRecord } from './csv-reader';

/** Not of signs that are marks too, such as `***` and `+++`. */
const RULE = /^[-=_─━═]{3,}$/u;
const LABEL =
  /^(?:(?:grand|sub)[\s-]?)?totals?(?: general| général)?:?$|^(?:sum|summe|gesamt|gesamtsumme|insgesamt|zwischensumme|somme|sous-total|totale|suma|razem|ogółem|итого|всего|合計|合计|总计|總計|小計|小计)[:：]?$/iu;
/** Fewer numbers of a column have the same sum by chance; zeros add nothing. */
const SUMMED_NUMBERS_MIN = 2;
/** Fewer rows have it by chance. */
const SUMMED_ROWS_MIN = 3;
/** Totals and lines that a table ends in; more are something else. */
const TOTALS_MAX = 50;
const NOT_ZERO = /[1-9]/;
/** Of cents that were rounded row by row. */
const ROUNDING = 0.005;

/**
 * How many records at the end of a table are no rows of it but totals and the lines that are ruled above and below them. A
 * record that is called `Total` may as well be a company of that name: all of its numbers have to be the sums of their
 * columns. What has no such name is a row, whatever adds up.
 */
export function totalsOf(rows: readonly FileRecord[], columnCount: number): number {
  if (columnCount < 2) return 0;
  const isLine = ruledLinesOf(rows);
  const isTotal = totalsAmong(rows);
  let first = rows.length;
  while (first > 1 && rows.length - first <= TOTALS_MAX && (isLine(first - 1) || isTotal(first - 1))) first--;
  return rows.length - first <= TOTALS_MAX ? rows.length - first : 0;
}

/**
 * Whether a record is a ruled line, by its index: one through all columns, more than one, that have values above it. Where
 * lines are all that a column has, they are its values.
 */
function ruledLinesOf(rows: readonly FileRecord[]): (index: number) => boolean {
  const filledFrom: number[] = [];
  for (const [index, { cells }] of rows.entries())
    for (const [column, cell] of cells.entries())
      if (cell.trim() !== '' && !RULE.test(cell.trim())) filledFrom[column] ??= index;
  return (index) => {
    const { cells } = rows[index]!;
    return (
      isRule(cells) &&
      filledFrom.filter((from) => from < index).length > 1 &&
      filledFrom.every((from, column) => from >= index || RULE.test((cells[column] ?? '').trim()))
    );
  };
}

/** A number by each of the signs that may separate its decimals. */
type Readings = readonly (number | undefined)[];

/** The cells of a column down to one of them that is filled. */
interface ColumnAbove {
  row: number;
  count: number;
  /** By each reading; undefined where a cell has none. */
  sums: Readings;
  /** How many are not zero. */
  summed: number;
  hasText: boolean;
  /** Each number is one more than the one before, as ids are: 3 is the sum of 0, 1 and 2 by chance. */
  isCounting: boolean;
  last: number;
}

const NOTHING_ABOVE: ColumnAbove = {
  row: -1,
  count: 0,
  sums: [0, 0],
  summed: 0,
  hasText: false,
  isCounting: true,
  last: 0,
};

/**
 * Whether a record is a total of those above it, by its index. It is asked for one record after the other, from the last
 * one on; each cell is read once, and what is summed up above a total is known from the cell right above it.
 */
function totalsAmong(rows: readonly FileRecord[]): (index: number) => boolean {
  const known = new Map<string, Readings>();
  const readingsOf = (text: string): Readings => {
    const readings = known.get(text) ?? SEPARATORS.map((separator) => toNumber(text, separator));
    known.set(text, readings);
    return readings;
  };
  const isText = (text: string): boolean =>
    text.trim() !== '' && readingsOf(text).every((number) => number === undefined);
  const withCell = (above: ColumnAbove, [row, text]: FilledCell): ColumnAbove => ({
    row,
    count: above.count + 1,
    sums: readingsOf(text).map((number, reading) => plus(above.sums[reading], number)),
    summed: above.summed + (NOT_ZERO.test(text) ? 1 : 0),
    hasText: above.hasText || isText(text),
    isCounting: isNext(above, text),
    last: Number(text),
  });
  const filledRows: number[] = [];
  const columns: FilledCell[][] = [];
  for (const [row, { cells }] of rows.entries()) {
    if (isBlank(cells) || isRule(cells)) continue;
    filledRows.push(row);
    for (const [column, text] of cells.entries())
      if (text.trim() !== '') (columns[column] ??= []).push([row, text]);
  }
  const summedColumns = new Map<number, ColumnAbove[]>();
  const aboveOf = (column: number, total: number): ColumnAbove => {
    const above = summedColumns.get(column) ?? summedUp(columns[column] ?? [], withCell);
    summedColumns.set(column, above);
    while (above.length > 0 && above.at(-1)!.row >= total) above.pop();
    return above.at(-1) ?? NOTHING_ABOVE;
  };
  /** Whether a number is the sum of the numbers above it, as one of both signs separates their decimals. */
  const isSumOf = (cell: string, { sums, count }: ColumnAbove): boolean =>
    readingsOf(cell).some((total, reading) => {
      const sum = sums[reading];
      return (
        total !== undefined &&
        sum !== undefined &&
        Math.abs(sum - total) < Math.min(ROUNDING * (count + 1), 0.5)
      );
    });

  return (total) => {
    const { cells } = rows[total]!;
    const texts = cells.filter(isText);
    if (texts.length !== 1 || !LABEL.test(texts[0]!.trim())) return false;
    while (filledRows.length > 0 && filledRows.at(-1)! >= total) filledRows.pop();
    if (filledRows.length < SUMMED_ROWS_MIN) return false;
    let sums = 0;
    for (const [column, cell] of cells.entries()) {
      if (cell.trim() === '' || isText(cell)) continue;
      const above = aboveOf(column, total);
      if (above.hasText) continue;
      if (!isSumOf(cell, above)) return false;
      if (above.summed >= SUMMED_NUMBERS_MIN && NOT_ZERO.test(cell) && !isNext(above, cell)) sums++;
    }
    return sums > 0;
  };
}

type FilledCell = readonly [row: number, text: string];

/** The column down to each of its cells. */
function summedUp(
  cells: readonly FilledCell[],
  withCell: (above: ColumnAbove, cell: FilledCell) => ColumnAbove,
): ColumnAbove[] {
  const summed: ColumnAbove[] = [];
  for (const cell of cells) summed.push(withCell(summed.at(-1) ?? NOTHING_ABOVE, cell));
  return summed;
}

const plus = (sum: number | undefined, number: number | undefined): number | undefined =>
  sum === undefined || number === undefined ? undefined : sum + number;

/** Whether a number goes on counting. */
const isNext = ({ isCounting, count, last }: ColumnAbove, text: string): boolean =>
  isCounting && (count === 0 || Number(text) === last + 1);

/** Whether a record is a line of `---` or `===`, in all cells that are filled. */
function isRule(cells: readonly string[]): boolean {
  const filled = cells.map((cell) => cell.trim()).filter((cell) => cell !== '');
  return filled.length > 0 && filled.every((cell) => RULE.test(cell));
}

const SEPARATORS = ['.', ','] as const;

/** A number without what groups its digits. */
function toNumber(text: string, separator: '.' | ','): number | undefined {
  const amount = readAmount(text);
  if (!amount) return undefined;
  const [whole, fraction, ...others] = amount.digits.replace(/[\s'’]/g, '').split(separator);
  if (others.length > 0) return undefined;
  const number = Number(`${whole!.replace(/[.,]/g, '')}.${fraction ?? '0'}`);
  if (Number.isNaN(number)) return undefined;
  return amount.isNegative ? -number : number;
}
