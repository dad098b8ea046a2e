/** True for text that cannot be stored: it contains NUL or half of a surrogate pair. */
export const isUnstorable = (text: string): boolean => text.includes('\0') || !text.isWellFormed();

/** A text that can be stored: NUL and halves of surrogate pairs are replaced by visible characters. */
export const storable = (text: string): string => text.replaceAll('\0', '\u2400').toWellFormed();

/** Whether JSON may have such a text: it escapes NUL or a surrogate, which may be alone, or that is what it says. */
export const mayHaveUnstorable = (json: string): boolean => /\\u(?:0000|d[89a-f])/i.test(json);

/** The number of code points. */
export const lengthOf = (text: string): number => [...text].length;

/**
 * The first whole characters of a text, without the rest: what `slice` returns keeps the whole text in memory.
 * @param length in UTF-16 code units
 */
export const headOf = (text: string, length: number): string =>
  text.length <= length ? text : [...text.slice(0, length).replace(HALF_AT_END, '')].join('');

/** The first half of a character that was cut. */
const HALF_AT_END = /[\ud800-\udbff]$/;

/**
 * The property path of the first unstorable text in a JSON value (a value or a property name). Empty for the value itself;
 * undefined where all can be stored.
 */
export function findUnstorable(value: unknown): string | undefined {
  if (typeof value === 'string') return isUnstorable(value) ? '' : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const found = findUnstorable(value[index]);
      if (found !== undefined) return joined(`[${index}]`, found);
    }
    return undefined;
  }
  // A name like that of a prototype is a property of its own here.
  for (const name in value) {
    if (isUnstorable(name)) return '';
    const found = findUnstorable((value as Record<string, unknown>)[name]);
    if (found !== undefined) return joined(name, found);
  }
  return undefined;
}

// The path is made on the way back, so that a value without such a text costs none.
const joined = (path: string, rest: string): string =>
  rest === '' || rest.startsWith('[') ? path + rest : `${path}.${rest}`;
