import Papa from 'papaparse';
import { guard } from '@plinth/kernel/formula-guard';

/** The value of a cell, written by the type of its column; `null` where there is none. */
export type Cell = string | null;

/**
 * Writes rows as CSV (RFC 4180, lines end with CRLF). Text that a spreadsheet would run as a formula is guarded;
 * papaparse's own `escapeFormulae` misses cells of several lines and damages negative numbers.
 */
export function writeCsvRows(rows: readonly (readonly Cell[])[], delimiter = ','): string {
  const cells = rows.map((row) => row.map((cell) => (cell === null ? '' : guard(cell))));
  // A single blank cell would be a blank line, which readers skip.
  const isBlankRow = (row: string[]) => row.length === 1 && row[0]!.trim() === '';
  if (!cells.some(isBlankRow)) return `${Papa.unparse(cells, { delimiter, newline: '\r\n' })}\r\n`;
  return cells.map((row) => `${Papa.unparse([row], { delimiter, quotes: isBlankRow(row) })}\r\n`).join('');
}
