import type { FileRow } from '../formats/read-csv';

export const PREVIEW_CELL_LENGTH_MAX = 1_000;
/** Of the cells of all rows: a row may have a million by itself. */
const PREVIEW_LENGTH_MAX = 1_000_000;

/**
 * The rows that a preview shows, with a cell for each column. Long cells are cut, and of rows that are together more than
 * somebody looks at, only the first are shown.
 */
export function previewRowsOf(rows: readonly FileRow[], columns: number): FileRow[] {
  const shown: FileRow[] = [];
  let length = 0;
  for (const row of rows) {
    const cells = Array.from({ length: columns }, (_, index) => cut(row.cells[index] ?? ''));
    length += cells.reduce((sum, cell) => sum + cell.length, 0);
    if (length > PREVIEW_LENGTH_MAX && shown.length > 0) break;
    shown.push({ ...row, cells });
  }
  return shown;
}

const cut = (cell: string): string =>
  cell.length > PREVIEW_CELL_LENGTH_MAX
    ? `${cell.slice(0, PREVIEW_CELL_LENGTH_MAX - 1).toWellFormed()}…`
    : cell;
