/**
 * The most combining marks in a row, in UTF-16 code units. Unicode's Stream-Safe Text Format (UAX #15, section 12) has the
 * same bound: words of no language come near it, while normalizing sorts the marks of one character, which takes the square
 * of their number: 120,000 of them hold up a process for eight seconds.
 */
export const MARKS_IN_ROW_MAX = 30;

/** Composing makes one character of at most six UTF-16 code units (Unicode 17); later versions may know longer ones. */
const CODE_UNITS_OF_CHARACTER_MAX = 8;

/** Whether a text has more characters than this however it is composed. Looks at none of them. */
export const isLongerThan = (lengthMax: number, text: string): boolean =>
  text.length > CODE_UNITS_OF_CHARACTER_MAX * lengthMax;

/**
 * A text in Unicode's composed form (NFC), in time that grows with its length only.
 * @returns undefined where more than `MARKS_IN_ROW_MAX` combining marks follow one another: no text is stored so where it is
 * composed first, and looking for one as it is finds nothing
 */
export function composed(text: string): string | undefined {
  if (hasLongRow(text)) return undefined;
  const result = text.normalize('NFC');
  // Some marks are composed of two (U+0344): what is stored can be sent again.
  return result !== text && hasLongRow(result) ? undefined : result;
}

/** A text without case and accents, and with the plain characters in place of others that mean the same. */
export const plain = (text: string): string =>
  text.replace(MARKS, '').normalize('NFKD').replace(MARKS, '').toLowerCase();

const MARK = /\p{M}/u;

/** With the two characters that become marks where compatible ones are replaced (voiced marks of half-width kana). */
const MARKS = /[\p{M}\uff9e\uff9f]/gu;

function hasLongRow(text: string): boolean {
  let start = 0;
  while (start + MARKS_IN_ROW_MAX < text.length) {
    // From the end of the shortest such row back: most texts have no mark there, and all before it need no look.
    let index = start + MARKS_IN_ROW_MAX;
    while (index >= start && isMark(text, index)) index--;
    if (index < start) return true;
    start = index + 1;
  }
  return false;
}

const FIRST_MARK = 0x300;

/** Of each character that was looked at: to ask the expression each time takes several times as long as normalizing. */
const kinds = new Uint8Array(0x110000);
const IS_MARK = 1;
const IS_NONE = 2;

function isMark(text: string, index: number): boolean {
  const codeUnit = text.charCodeAt(index);
  if (codeUnit < FIRST_MARK) return false;
  const isSecondHalf = codeUnit >= 0xdc00 && codeUnit <= 0xdfff;
  const codePoint = text.codePointAt(isSecondHalf ? index - 1 : index) ?? codeUnit;
  return (kinds[codePoint] ||= MARK.test(String.fromCodePoint(codePoint)) ? IS_MARK : IS_NONE) === IS_MARK;
}
