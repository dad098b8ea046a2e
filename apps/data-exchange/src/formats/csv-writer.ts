import Papa from 'papaparse';
import { guard } from './formula-guard';

/** What is written where the type of its column says how; `null` where there is nothing. */
export type Cell = string | null;

/** What a cell must not hold, nor begin or end with, to be written as it is. */
const SPECIAL = /["\r\n\ufeff]|^\s|\s$/;

/**
 * Writes rows as CSV (RFC 4180, lines end with CRLF). Text that a spreadsheet would take for a formula is guarded;
 * papaparse's own `escapeFormulae` misses cells of several lines and damages negative numbers.
 */
export function writeCsvRows(rows: readonly (readonly Cell[])[], delimiter = ','): string {
  const isPlain = (cell: string): boolean => !SPECIAL.test(cell) && !cell.includes(delimiter);
  let lines = '';
  for (const row of rows) {
    const cells = row.map((cell) => (cell === null ? '' : guard(cell)));
    // Most rows are plain, and papaparse looks at each of their cells several times.
    lines += cells.every(isPlain) && !isBlank(cells) ? cells.join(delimiter) : quoted(cells, delimiter);
    lines += '\r\n';
  }
  return lines;
}

const quoted = (cells: string[], delimiter: string): string =>
  Papa.unparse([cells], { delimiter, quotes: isBlank(cells) });

/** A single blank cell would be a blank line, which no reader takes for a row. */
const isBlank = (cells: readonly string[]): boolean => cells.length === 1 && cells[0]!.trim() === '';
