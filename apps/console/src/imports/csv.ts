/**
 * A CSV file in UTF-8 that an import reads as these rows. A text that begins with quotation marks and what a program
 * could take for a formula gets one more, because an import removes one.
 */
export const csvOf = (rows: readonly (readonly string[])[]): string =>
  `\uFEFF${rows.map((row) => `${row.map(csvCell).join(',')}\r\n`).join('')}`;

function csvCell(text: string): string {
  const guarded = /^'+[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(guarded) || guarded !== guarded.trim()
    ? `"${guarded.replaceAll('"', '""')}"`
    : guarded;
}
