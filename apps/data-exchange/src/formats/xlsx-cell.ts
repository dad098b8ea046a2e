import type { Cell } from './csv-writer';
import { isNumeric } from './file-column';
import { styleOf } from './xlsx-parts';

const CELL_LENGTH_MAX = 32_767;
const DIGITS_MAX = 15;
const MILLISECONDS_OF_DAY = 86_400_000;
/** The number of 1970-01-01 in spreadsheets. */
const FIRST_DAY_OF_CLOCK = 25_569;

/** One cell of a sheet at a `reference` such as `B7`. A value that does not fit its type is written as text. */
export function cellXml(reference: string, cell: Cell, type: string): string {
  if (cell === null) return '';
  const value = valueOf(cell, type);
  if (value === undefined) return textXml(reference, cell);
  const style = styleOf(type);
  const attributes = (style === 0 ? '' : ` s="${style}"`) + (type === 'boolean' ? ' t="b"' : '');
  return `<c r="${reference}"${attributes}><v>${value}</v></c>`;
}

/** Text is always text, never a formula. */
export function textXml(reference: string, text: string, style = ''): string {
  const shown = escapeText(text.length > CELL_LENGTH_MAX ? text.slice(0, CELL_LENGTH_MAX) : text);
  const space = OUTER_SPACE.test(shown) ? ' xml:space="preserve"' : '';
  return `<c r="${reference}"${style} t="inlineStr"><is><t${space}>${shown}</t></is></c>`;
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
  return Number.isNaN(time) ? undefined : FIRST_DAY_OF_CLOCK + time / MILLISECONDS_OF_DAY;
}

const OUTER_SPACE = /^\s|\s$/;
const MUST_BE_ESCAPED = /[&<>\0-\x08\x0b-\x1f\ufffe\uffff]|_x[\da-f]{4}_/i;
const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Escapes characters that XML cannot contain, or would change, as workbooks do: `_x000D_`. */
const escapeText = (text: string): string =>
  MUST_BE_ESCAPED.test(text)
    ? text
        .replace(/_x[\da-f]{4}_/gi, '_x005F$&')
        .replace(/[&<>]/g, (character) => entities[character]!)
        .replace(/[\0-\x08\x0b-\x1f\ufffe\uffff]/g, (character) => {
          const code = character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
          return `_x${code}_`;
        })
    : text;
