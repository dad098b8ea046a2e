import { COLUMNS_MAX } from './csv-reader';
import type { LayoutFinding } from './file-format';
import type { SheetRow } from './workbook/sheet-rows';

/** Among how many rows of a sheet its header is found. */
export const HEAD_ROWS = 50;
const ROWS_ABOVE_MAX = 20;
const COLUMNS_MIN = 3;

export interface SheetHeader {
  names: string[];
  /** The number of its row; 0 where there is none. */
  row: number;
  findings: LayoutFinding[];
  /** The first rows below it. */
  rest: SheetRow[];
}

/** The header of a sheet, from its first rows: in the row that is named, else below titles and notes. */
export function headerOfSheet(first: readonly SheetRow[], named?: number): SheetHeader {
  if (named === 0) {
    const columns = Math.max(0, ...first.map(([, cells]) => cells.length));
    return { names: Array<string>(columns).fill(''), row: 0, findings: [], rest: [...first] };
  }
  const usual = usualCells(first);
  const index =
    named === undefined ? rowsAbove(first, usual) : first.findIndex(([number]) => number >= named);
  const [row, names] = first[index] ?? [named ?? 1, []];
  const findings: LayoutFinding[] =
    named === undefined && index > 0 ? [{ code: 'Preamble', args: [String(row - 1), String(usual)] }] : [];
  return { names, row, findings, rest: index < 0 ? [] : first.slice(index + 1) };
}

const filled = ([, cells]: SheetRow): number => cells.filter((cell) => cell.trim() !== '').length;

/** As many cells as the row in the middle has, ordered by how many they have. */
function usualCells(rows: readonly SheetRow[]): number {
  const counts = rows.map(filled).sort((left, right) => left - right);
  return counts[Math.floor(counts.length / 2)] ?? 0;
}

/** How many rows stand above the header: each has half as many cells as most rows, at most. No header is too wide to be read. */
function rowsAbove(rows: readonly SheetRow[], usual: number): number {
  if (usual < COLUMNS_MIN) return 0;
  const header = rows.findIndex((row) => filled(row) * 2 > usual);
  const [, cells = []] = rows[header] ?? [];
  return header <= ROWS_ABOVE_MAX && cells.length <= COLUMNS_MAX ? Math.max(header, 0) : 0;
}
