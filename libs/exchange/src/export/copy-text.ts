/** A cell of a row; `null` where there is no value. */
export type CopiedCell = string | null;

/** The garbage collector takes large strings for lasting ones, which costs an export more than anything else. */
const PIECE_BYTES = 16_384;
/** The byte between cells. */
export const TAB = 9;
/** The byte at the end of each row; a line feed inside a cell is written as `\n`. */
export const LINE_FEED = 10;
const NULL = '\\N';

/** By the letter after the backslash; any other character means itself. */
const escaped: Readonly<Record<string, string>> = {
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

/**
 * Splits whole lines of the text format of `COPY` into rows, some at a time.
 * See https://www.postgresql.org/docs/current/sql-copy.html, "Text Format".
 */
export function* copiedRows(lines: Buffer): Generator<string[]> {
  for (let begin = 0, end; begin < lines.length; begin = end) {
    end = lines.indexOf(LINE_FEED, Math.min(begin + PIECE_BYTES, lines.length) - 1) + 1;
    yield lines.toString('utf8', begin, end - 1).split('\n');
  }
}

/** The number of rows in whole lines. */
export function countCopiedRows(lines: Buffer): number {
  let count = 0;
  for (let end = lines.indexOf(LINE_FEED); end >= 0; end = lines.indexOf(LINE_FEED, end + 1)) count++;
  return count;
}

/** The cells of a row, which are separated by tabs; `\N` is no value. */
export const readCopiedRow = (row: string): CopiedCell[] =>
  row.includes('\\') ? row.split('\t').map(readCell) : row.split('\t');

const readCell = (cell: string): CopiedCell =>
  cell === NULL ? null : cell.replace(/\\(.)/gs, (_, letter: string) => escaped[letter] ?? letter);
