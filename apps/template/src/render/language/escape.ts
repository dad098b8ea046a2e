const html: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '\\': '&#92;',
};
const reference = (character: string): string => `&#${character.codePointAt(0)};`;

export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"'\\]/g, (character) => html[character]!);

/** How many characters each one of ASCII gets more when it is escaped. */
const escapedGrowth = Uint8Array.from({ length: 128 }, (_, code) => {
  const escaped = html[String.fromCharCode(code)];
  return escaped === undefined ? 0 : escaped.length - 1;
});

/** How many characters `escapeHtml` makes of a text, up to six of one, without making them. */
export function escapedLength(text: string): number {
  let length = text.length;
  for (let index = 0; index < text.length; index++) length += escapedGrowth[text.charCodeAt(index)] ?? 0;
  return length;
}

/** Escapes what ends a value in quotes, and leaves character references as they are. */
export const escapeQuotes = (text: string): string =>
  text.replace(/["'<>]/g, (character) => html[character]!);

/** Escapes what ends an unquoted value, or has a meaning in one. */
export const escapeUnquoted = (text: string): string => text.replace(/[\s=`"'<>]/g, reference);

/** A text for a comment, which no text of its own can end. */
export const escapeComment = (text: string): string => escapeHtml(text).replace(/-/g, '&#45;');

/** A text for a string, a comment or a regular expression of a script. */
export const escapeScript = (text: string): string =>
  text.replace(/[^\w .,-]/gu, (character) =>
    [...Array(character.length).keys()]
      .map((index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`)
      .join(''),
  );

/** A text for a style sheet, where it is one word or a part of a string. */
export const escapeStyle = (text: string): string =>
  text.replace(/[^\w #%.,-]/gu, (character) => `\\${character.codePointAt(0)!.toString(16)} `);

/** JSON that may stand in a script element. */
export const escapeJson = (json: string): string =>
  json.replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
