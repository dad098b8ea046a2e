import { csvOf } from './csv';

/** The column by which data exchange knows a correction file. */
const ERRORS_COLUMN = '_Errors';

/**
 * Corrected rows as a correction file of their upload: data exchange reads it as it read the upload, with its numbers,
 * dates and currency, which few rows may not show. A workbook has no such format, and its rows are a file of their own.
 */
export function correctionsOf(
  { delimiter }: { delimiter: string | null },
  headers: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  if (delimiter === null) return csvOf([headers, ...rows]);
  const kept = headers.flatMap((header, index) => (header === ERRORS_COLUMN ? [] : [index]));
  const records = rows.map((cells) => [...kept.map((index) => cells[index] ?? ''), '']);
  const names = [...kept.map((index) => headers[index]!), ERRORS_COLUMN];
  return csvOf([names, ...records], delimiter);
}
