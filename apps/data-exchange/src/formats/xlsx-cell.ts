import { dayNumber, textXml } from '@plinth/exchange/workbook/cell-xml';
import type { Cell } from './csv-writer';
import { isNumeric } from './file-column';
import { styleOf } from './xlsx-parts';

const DIGITS_MAX = 15;

/** A cell of a sheet: a value by the type of its column, or an error of a formula, such as `#N/A`. */
export type SheetCell = Cell | { error: string };

/** What spreadsheets can read as an error. */
const ERRORS: ReadonlySet<string> = new Set([
  '#NULL!',
  '#DIV/0!',
  '#VALUE!',
  '#REF!',
  '#NAME?',
  '#NUM!',
  '#N/A',
  '#GETTING_DATA',
]);

/** One cell of a sheet at a `reference` such as `B7`. A value that does not fit its type is written as text. */
export function cellXml(reference: string, cell: SheetCell, type: string): string {
  if (cell === null) return '';
  if (typeof cell === 'object') {
    const error = ERRORS.has(cell.error) ? cell.error : '#VALUE!';
    return `<c r="${reference}" t="e"><v>${error}</v></c>`;
  }
  const value = valueOf(cell, type);
  if (value === undefined) return textXml(reference, cell);
  const style = styleOf(type);
  const attributes = (style === 0 ? '' : ` s="${style}"`) + (type === 'boolean' ? ' t="b"' : '');
  return `<c r="${reference}"${attributes}><v>${value}</v></c>`;
}

function valueOf(cell: string, type: string): number | undefined {
  if (isNumeric(type)) return numberOf(cell);
  if (type === 'timestamp' || type === 'date') return dayOf(cell);
  if (type !== 'boolean') return undefined;
  if (cell === 'true') return 1;
  return cell === 'false' ? 0 : undefined;
}

/** Spreadsheets know fifteen digits. */
function numberOf(cell: string): number | undefined {
  const digits = cell.replace(/e.*$/i, '').replace(/\D/g, '').replace(/^0+/, '');
  const value = Number(cell);
  return digits.length <= DIGITS_MAX && Number.isFinite(value) ? value : undefined;
}

/** Spreadsheets know no day before 1900, and count wrongly up to its March. */
function dayOf(cell: string): number | undefined {
  const time = cell < '1900-03-01' ? NaN : Date.parse(cell);
  return Number.isNaN(time) ? undefined : dayNumber(time);
}
