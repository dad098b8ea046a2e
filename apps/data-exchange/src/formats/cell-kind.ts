/** What a cell looks like: a type, or the pattern of a code such as `AB-1234`. */
export type CellKind = 'blank' | 'text' | 'number' | 'date' | 'time' | 'address' | `code ${string}`;

const NUMBER = /^[+-]?\p{Sc}?\s?[+-]?\d[\d.,\s'’]*(%|\s?\p{Sc}|\s?[A-Z]{3})?$/u;
const DATE = /^\d{1,4}[./-]\d{1,2}[./-]\d{1,4}([T ].*)?$/;
const TIME = /^\d{1,2}:\d\d(:\d\d([.,]\d+)?)?(\s?[ap]m)?$/i;
const ADDRESS = /^[a-z]+:\/\/\S+$|^[^\s@]+@[^\s@]+\.[a-z]+$/i;
const CODE = /^(?=.*\d)[\p{L}\d._/-]{3,20}$/u;
/** A header may be a year, or the number of its column. */
const NUMBERED_HEADER = /^(\d{1,2}|(19|20)\d\d)$/;

/** Whether a cell is a value that no header would be. */
export const isValue = (cell: string): boolean =>
  ['number', 'date', 'time', 'address'].includes(kindOf(cell)) && !NUMBERED_HEADER.test(cell.trim());

/** Whether cells hold nothing, as in the lines of delimiters that spreadsheets write below a table: they are no row. */
export const isBlank = (cells: readonly string[]): boolean => cells.every((cell) => cell.trim() === '');

const TYPED_SHARE = 0.9;
const TYPED_CELLS_MIN = 2;

/** What a cell looks like. */
export function kindOf(cell: string): CellKind {
  const text = cell.trim();
  if (text === '') return 'blank';
  if (text.length > 200) return 'text';
  if (DATE.test(text)) return 'date';
  if (NUMBER.test(text)) return 'number';
  if (TIME.test(text)) return 'time';
  if (ADDRESS.test(text)) return 'address';
  if (CODE.test(text)) return `code ${text.replace(/\p{L}/gu, 'A').replace(/\d/g, '9')}`;
  return 'text';
}

/** The kind of almost all cells of each column; undefined where they are texts, or of many kinds. */
export function kindsOfColumns(
  rows: readonly { cells: string[] }[],
  width: number,
): (CellKind | undefined)[] {
  return Array.from({ length: width }, (_, column) => {
    const counts = new Map<CellKind, number>();
    for (const { cells } of rows) {
      const kind = kindOf(cells[column] ?? '');
      if (kind !== 'blank') counts.set(kind, (counts.get(kind) ?? 0) + 1);
    }
    const all = [...counts.values()].reduce((sum, count) => sum + count, 0);
    const [kind, count] = [...counts].sort(([, left], [, right]) => right - left)[0] ?? ['text', 0];
    return kind !== 'text' && count >= TYPED_CELLS_MIN && count >= all * TYPED_SHARE ? kind : undefined;
  });
}

/** How the cells of a record compare with the kinds of its columns. */
export interface KindComparison {
  /** Cells of the kind of their column, that no header would be. */
  alike: number;
  /** Texts where the column has another kind. */
  texts: number;
  /** Cells of any other kind than their column has. */
  others: number;
}

/** Compares the cells of a record with the kinds of the columns that have one. */
export function compareKinds(
  cells: readonly string[],
  kinds: readonly (CellKind | undefined)[],
): KindComparison {
  const comparison = { alike: 0, texts: 0, others: 0 };
  for (const [column, expected] of kinds.entries()) {
    const cell = (cells[column] ?? '').trim();
    const kind = kindOf(cell);
    if (expected === undefined || kind === 'blank' || NUMBERED_HEADER.test(cell)) continue;
    if (kind === expected) comparison.alike++;
    else if (kind === 'text') comparison.texts++;
    else comparison.others++;
  }
  return comparison;
}
