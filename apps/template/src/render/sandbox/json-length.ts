const isSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdfff;
/** `\n`, `\"` and the like take two characters, other control characters six, as halves of surrogate pairs do. */
const SHORT_ESCAPES = new Set([...'\b\t\n\f\r"\\'].map((character) => character.charCodeAt(0)));

/** How many characters a text has as JSON, at most, without making it. */
export function jsonLength(text: string): number {
  const hasHalves = !text.isWellFormed();
  let length = text.length + 2;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (SHORT_ESCAPES.has(code)) length += 1;
    else if (code < 0x20 || (hasHalves && isSurrogate(code))) length += 5;
  }
  return length;
}

/** How many bytes a text has as JSON in UTF-8, at most, without making it. */
export const jsonBytes = (text: string): number => jsonLength(text) + Buffer.byteLength(text) - text.length;
