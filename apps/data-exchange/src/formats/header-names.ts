import { storable } from '@plinth/kernel/text';

/**
 * The names of a header of several rows: those of a column are joined, each once. A name above others stands for all
 * columns up to the next name.
 */
export function joinHeaderRows(rows: readonly (readonly string[])[]): string[] {
  const width = Math.max(0, ...rows.map((cells) => cells.length));
  const names = Array.from({ length: width }, (): string[] => []);
  for (const [index, cells] of rows.entries()) {
    let spanning = '';
    for (let column = 0; column < width; column++) {
      const own = cells[column]?.trim() ?? '';
      const isNamedBelow = rows.slice(index + 1).some((lower) => (lower[column]?.trim() ?? '') !== '');
      const name = own === '' && isNamedBelow ? spanning : own;
      if (name !== '' && names[column]!.at(-1) !== name) names[column]!.push(name);
      spanning = isNamedBelow ? name : '';
    }
  }
  return names.map((parts) => parts.join(' '));
}

/** Every error of a row names its column, so that a long name would be there thousands of times. */
const HEADER_LENGTH_MAX = 200;

/** Headers that can be stored, and are short and unique: a repeated one gets ` (2)`, one without a name gets its position. */
export function uniqueHeaders(headers: readonly string[]): string[] {
  const taken = new Set<string>();
  // Where the next one of a name goes on, so that a thousand of one name are not all counted again for each.
  const counts = new Map<string, number>();
  return headers.map((header, index) => {
    const name = shortened(storable(header.trim())) || `Column ${index + 1}`;
    let unique = name;
    let count = counts.get(name) ?? 1;
    while (taken.has(unique)) unique = `${name} (${++count})`;
    counts.set(name, count);
    taken.add(unique);
    return unique;
  });
}

const shortened = (name: string): string =>
  name.length <= HEADER_LENGTH_MAX
    ? name
    : `${name
        .slice(0, HEADER_LENGTH_MAX - 1)
        .toWellFormed()
        .trim()}…`;

/** Whether a record is the header again, as where files were put behind each other. */
export const isRepeatedHeader = (cells: readonly string[], header: readonly string[]): boolean =>
  cells.length > 1 &&
  cells.length === header.length &&
  cells.every((cell, column) => cell.trim() === header[column]);
