import Papa from 'papaparse';
import { guard } from './formula-guard';

/** What is written where the type of its column says how; `null` where there is nothing. */
export type Cell = string | null;

/**
 * Writes rows as CSV (RFC 4180, lines end with CRLF). Text that a spreadsheet would take for a formula is guarded;
 * papaparse's own `escapeFormulae` misses cells of several lines and damages negative numbers.
 */
export function writeCsvRows(rows: readonly (readonly Cell[])[], delimiter = ','): string {
  const cells = rows.map((row) => row.map((cell) => (cell === null ? '' : guard(cell))));
  // A single blank cell would be a blank line, which no reader takes for a row.
  const isBlankRow = (row: string[]) => row.length === 1 && row[0]!.trim() === '';
  if (!cells.some(isBlankRow)) return `${Papa.unparse(cells, { delimiter, newline: '\r\n' })}\r\n`;
  return cells.map((row) => `${Papa.unparse([row], { delimiter, quotes: isBlankRow(row) })}\r\n`).join('');
}
