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

/** How many cells hold something. */
export const filled = (cells: readonly string[]): number => cells.filter((cell) => cell.trim() !== '').length;

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

/** The kinds of the columns of a table, whose rows are added one after the other: each row costs the same. */
export class ColumnKinds {
  private readonly columns: ColumnKind[];

  constructor(width: number) {
    this.columns = Array.from({ length: width }, () => new ColumnKind());
  }

  add({ cells }: { cells: readonly string[] }): void {
    for (const [column, cell] of cells.entries()) this.columns[column]?.add(cell);
  }

  /** The kind of almost all cells of each of the first columns; undefined where they are texts, or of many kinds. */
  first(count: number): (CellKind | undefined)[] {
    return this.columns.slice(0, count).map(({ kind }) => kind);
  }
}

class ColumnKind {
  private readonly counts = new Map<CellKind, number>();
  private cells = 0;
  private mostFrequent: CellKind = 'text';
  private most = 0;

  add(cell: string): void {
    const kind = kindOf(cell);
    if (kind === 'blank') return;
    const count = (this.counts.get(kind) ?? 0) + 1;
    this.counts.set(kind, count);
    this.cells++;
    if (count <= this.most) return;
    this.most = count;
    this.mostFrequent = kind;
  }

  get kind(): CellKind | undefined {
    const isTyped = this.most >= TYPED_CELLS_MIN && this.most >= this.cells * TYPED_SHARE;
    return isTyped && this.mostFrequent !== 'text' ? this.mostFrequent : undefined;
  }
}

/** So many cells are one step. */
const CELLS_PER_STEP = 10_000;

/** The kinds of the columns of these rows. */
export function* kindsOfColumns(
  rows: readonly { cells: readonly string[] }[],
  width: number,
): Generator<void, (CellKind | undefined)[]> {
  const columns = new ColumnKinds(width);
  let read = 0;
  for (const row of rows) {
    read += row.cells.length;
    if (read > CELLS_PER_STEP) {
      yield;
      read = row.cells.length;
    }
    columns.add(row);
  }
  return columns.first(width);
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
  for (const [column, text] of cells.entries()) {
    const expected = kinds[column];
    const cell = text.trim();
    if (expected === undefined || cell === '' || NUMBERED_HEADER.test(cell)) continue;
    const kind = kindOf(cell);
    if (kind === expected) comparison.alike++;
    else if (kind === 'text') comparison.texts++;
    else comparison.others++;
  }
  return comparison;
}
