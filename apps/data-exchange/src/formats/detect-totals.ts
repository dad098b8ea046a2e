import { readAmount } from '@plinth/exchange/import/amount';
import type { FileRecord } from './csv-reader';

const RULE = /^[-=_*+~–—─━═]{3,}$/u;
const LABEL =
  /^(?:(?:grand|sub)[\s-]?)?totals?(?: general| général)?:?$|^(?:sum|summe|gesamt|gesamtsumme|insgesamt|zwischensumme|somme|sous-total|totale|suma|razem|ogółem|итого|всего|合計|合计|总计|總計|小計|小计)[:：]?$/iu;
/** Fewer have the same sum by chance. */
const SUMMED_ROWS_MIN = 2;
/** Of cents that were rounded row by row. */
const ROUNDING = 0.005;

/**
 * How many records at the end of a table are no rows of it but totals and the lines that are ruled above and below them. A
 * record that only begins with `Total` may as well be a company of that name: its numbers have to be the sums of their
 * columns, or it stands apart from the rows above it.
 */
export function totalsOf(rows: readonly FileRecord[], columnCount: number): number {
  if (columnCount < 2) return 0;
  let first = rows.length;
  while (first > 1 && isTotal(rows, first - 1)) first--;
  return rows.length - first;
}

function isTotal(rows: readonly FileRecord[], index: number): boolean {
  const { number, cells } = rows[index]!;
  if (isRule(cells)) return true;
  const above = rows[index - 1]!;
  const summed = rows.slice(0, index).filter((row) => !isRule(row.cells));
  if (summed.length < SUMMED_ROWS_MIN) return false;
  const texts = cells.filter((cell) => cell.trim() !== '' && !isNumber(cell));
  const sums = cells.flatMap((cell, column) =>
    cell.trim() === '' || texts.includes(cell) ? [] : [isSumOf(cell, summed, column)],
  );
  if (sums.length === 0) return false;
  if (texts.length === 0) return sums.every(Boolean) && cells.some((cell) => cell.trim() === '');
  if (texts.length > 1 || !LABEL.test(texts[0]!.trim())) return false;
  return sums.some(Boolean) || isRule(above.cells) || number - above.number > 1;
}

/** Whether a record is a line of `---` or `===`, in all cells that are filled. */
export function isRule(cells: readonly string[]): boolean {
  const filled = cells.map((cell) => cell.trim()).filter((cell) => cell !== '');
  return filled.length > 0 && filled.every((cell) => RULE.test(cell));
}

/** Whether a number is the sum of the numbers above it, as one of both signs separates their decimals. */
function isSumOf(cell: string, rows: readonly FileRecord[], column: number): boolean {
  return SEPARATORS.some((separator) => {
    const total = toNumber(cell, separator);
    const numbers = rows
      .map(({ cells }) => cells[column] ?? '')
      .filter((text) => text.trim() !== '')
      .map((text) => toNumber(text, separator));
    if (total === undefined || numbers.length < SUMMED_ROWS_MIN || numbers.includes(undefined)) return false;
    const sum = numbers.reduce<number>((all, number) => all + number!, 0);
    return sum !== 0 && Math.abs(sum - total) < Math.min(ROUNDING * (numbers.length + 1), 0.5);
  });
}

const SEPARATORS = ['.', ','] as const;
const isNumber = (text: string): boolean =>
  SEPARATORS.some((separator) => toNumber(text, separator) !== undefined);

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
