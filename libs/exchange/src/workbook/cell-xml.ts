import { headOf } from '@plinth/kernel/text';

/** UTF-16 code units: spreadsheets take no longer texts, and what is written ends there. */
export const CELL_LENGTH_MAX = 32_767;
const MILLISECONDS_OF_DAY = 86_400_000;
/** The number of 1970-01-01 in spreadsheets. */
const FIRST_DAY_OF_CLOCK = 25_569;
const LETTERS = 26;

/** How spreadsheets name the columns: A to Z, AA and so on. @param index from 0 */
export const columnLetters = (index: number): string =>
  (index < LETTERS ? '' : columnLetters(Math.floor(index / LETTERS) - 1)) +
  String.fromCharCode('A'.charCodeAt(0) + (index % LETTERS));

/** An instant, in milliseconds since 1970, as spreadsheets count days. They count wrongly before March 1900. */
export const dayNumber = (milliseconds: number): number =>
  FIRST_DAY_OF_CLOCK + milliseconds / MILLISECONDS_OF_DAY;

/** A cell with text at a `reference` such as `B7`; text is always text, never a formula. `style` is an attribute. */
export function textXml(reference: string, text: string, style = ''): string {
  const shown = escapeXml(headOf(text, CELL_LENGTH_MAX));
  const space = OUTER_SPACE.test(shown) ? ' xml:space="preserve"' : '';
  return `<c r="${reference}"${style} t="inlineStr"><is><t${space}>${shown}</t></is></c>`;
}

const OUTER_SPACE = /^\s|\s$/;
const MUST_BE_ESCAPED = /[&<>"\0-\x08\x0b-\x1f\ufffe\uffff]|_x[\da-f]{4}_/i;
const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Escapes characters that XML cannot contain, or would change, as workbooks do: `_x000D_`. */
export const escapeXml = (text: string): string =>
  MUST_BE_ESCAPED.test(text)
    ? text
        .replace(/_x[\da-f]{4}_/gi, '_x005F$&')
        .replace(/[&<>"]/g, (character) => entities[character]!)
        .replace(/[\0-\x08\x0b-\x1f\ufffe\uffff]/g, (character) => {
          const code = character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
          return `_x${code}_`;
        })
    : text;
