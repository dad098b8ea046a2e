import { guard } from '@plinth/kernel/formula-guard';

/** A CSV file in UTF-8 that an import reads as these rows: it takes away what guards them against formulas. */
export const csvOf = (rows: readonly (readonly string[])[], delimiter = ','): string =>
  `\uFEFF${rows.map((row) => `${row.map((cell) => csvCell(cell, delimiter)).join(delimiter)}\r\n`).join('')}`;

function csvCell(text: string, delimiter: string): string {
  const guarded = guard(text);
  return /["\r\n]/.test(guarded) || guarded.includes(delimiter) || guarded !== guarded.trim()
    ? `"${guarded.replaceAll('"', '""')}"`
    : guarded;
}
