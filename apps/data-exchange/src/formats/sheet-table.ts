import { filled } from './cell-kind';
import { COLUMNS_MAX, type FileRecord } from './csv-reader';
import { endOf, headerFindings, headerRowsOf, isSpanning } from './detect-layout';
import type { LayoutFinding, XlsxFormat } from './file-format';
import { joinHeaderRows } from './header-names';
import type { SheetRow } from './workbook/sheet-rows';

/** Among how many rows of a sheet its header is found. */
const HEADER_SAMPLE_ROWS = 50;
const ROWS_ABOVE_MAX = 20;
const COLUMNS_MIN = 3;

export interface SheetTable {
  /** The names of its columns. */
  names: string[];
  /** The number of the first row of its header; 0 where there is none. */
  headerRow: number;
  headerRows: number;
  /** The number of its last row; 0 where it ends with the sheet. */
  lastRow: number;
  findings: LayoutFinding[];
  /** The first rows below its header. */
  rest: SheetRow[];
}

type NamedRows = Pick<XlsxFormat, 'headerRow' | 'headerRows' | 'lastRow'>;

/**
 * The table of a sheet, from its first rows: its header in the row that is named, else below titles and notes; and as for
 * text files how many rows the header has, and what follows the table.
 * @param isWhole there are no further rows
 */
export function* tableOfSheet(
  first: readonly SheetRow[],
  named: NamedRows,
  isWhole = false,
): Generator<void, SheetTable> {
  const sample = first.slice(0, HEADER_SAMPLE_ROWS);
  const usual = usualCells(sample);
  const isNamed = named.headerRow !== undefined;
  const { headerRow } = named;
  const index = headerRow
    ? first.findIndex(([number]) => number >= headerRow)
    : yield* rowsNotRead(first, rowsAbove(sample, usual), headerRow);
  const rows = index < 0 ? [] : first.slice(index);
  const [row = headerRow ?? 1] = rows[0] ?? [];
  const preamble: LayoutFinding[] =
    !headerRow && index > 0 ? [{ code: 'Preamble', args: [String(row - 1), String(usual)] }] : [];
  yield;
  const records = recordsOf(rows);
  const width = records[0]?.cells.length ?? 0;
  const headerRows =
    headerRow === 0 ? 0 : (named.headerRows ?? (isNamed ? 1 : yield* headerRowsOf(records, width)));
  yield;
  const end: { lastRow?: number; findings: LayoutFinding[] } = isNamed
    ? { findings: [] }
    : yield* endOf(records, headerRows, { columnCount: width, isWhole });
  const isFound = !isNamed && named.headerRows === undefined;
  return {
    names:
      headerRows === 0
        ? Array<string>(width).fill('')
        : joinHeaderRows(rows.slice(0, headerRows).map(([, cells]) => cells)),
    headerRow: headerRows === 0 ? 0 : row,
    headerRows,
    lastRow: named.lastRow ?? end.lastRow ?? 0,
    findings: [
      ...preamble,
      ...(isFound && rows.length > 0 ? headerFindings(headerRows, row) : []),
      ...(named.lastRow === undefined ? end.findings : []),
    ],
    rest: rows.slice(headerRows),
  };
}

/** Rows of one width, as a text file has them: those of a sheet end with their last cell that is filled. */
function recordsOf(rows: readonly SheetRow[]): FileRecord[] {
  const width = rows.reduce((most, [, { length }]) => Math.max(most, Math.min(length, COLUMNS_MAX)), 0);
  return rows.map(([number, cells]) => ({
    number,
    cells: cells.length < width ? [...cells, ...Array<string>(width - cells.length).fill('')] : cells,
  }));
}

/** As for text files, all rows are read where a header was found that is said to be none. */
function* rowsNotRead(
  first: readonly SheetRow[],
  above: number,
  headerRow: number | undefined,
): Generator<void, number> {
  if (headerRow === undefined) return above;
  const records = recordsOf(first.slice(above));
  return (yield* headerRowsOf(records, records[0]?.cells.length ?? 0)) > 0 ? 0 : above;
}

/** As many cells as the row in the middle has, ordered by how many they have. */
function usualCells(rows: readonly SheetRow[]): number {
  const counts = rows.map(([, cells]) => filled(cells)).sort((left, right) => left - right);
  return counts[Math.floor(counts.length / 2)] ?? 0;
}

/**
 * How many rows stand above the header: each has half as many cells as most rows, at most. One right above it belongs to it
 * where it names columns that have no name below, as cells do that are merged over both. No header is too wide to be read.
 */
function rowsAbove(rows: readonly SheetRow[], usual: number): number {
  if (usual < COLUMNS_MIN) return 0;
  const header = rows.findIndex(([, row]) => filled(row) * 2 > usual);
  const [, cells = []] = rows[header] ?? [];
  if (header <= 0 || header > ROWS_ABOVE_MAX || cells.length > COLUMNS_MAX) return 0;
  const [upper, lower] = recordsOf(rows.slice(header - 1, header + 1));
  const namesMore = upper!.cells.some((cell, column) => cell.trim() !== '' && !lower!.cells[column]!.trim());
  return namesMore && isSpanning(upper!, lower!, upper!.cells.length) ? header - 1 : header;
}
