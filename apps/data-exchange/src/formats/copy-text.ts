import type { Cell } from './csv-writer';

/** The garbage collector takes large texts for lasting ones, which costs an export more than anything else. */
const PIECE_BYTES = 16_384;
export const TAB = 9;
export const LINE_FEED = 10;
const NULL = '\\N';

/** By the letter that stands after the backslash; any other character stands for itself. */
const escaped: Readonly<Record<string, string>> = {
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

/**
 * Cuts whole lines of the text format of `COPY` into rows, some at a time.
 * See https://www.postgresql.org/docs/current/sql-copy.html, "Text Format".
 */
export function* copiedRows(lines: Buffer): Generator<string[]> {
  for (let begin = 0, end; begin < lines.length; begin = end) {
    end = lines.indexOf(LINE_FEED, Math.min(begin + PIECE_BYTES, lines.length) - 1) + 1;
    yield lines.toString('utf8', begin, end - 1).split('\n');
  }
}

/** How many rows whole lines are. */
export function countCopiedRows(lines: Buffer): number {
  let count = 0;
  for (let end = lines.indexOf(LINE_FEED); end >= 0; end = lines.indexOf(LINE_FEED, end + 1)) count++;
  return count;
}

/** The cells of a row, which stand between tabs; `\N` is none. */
export const readCopiedRow = (row: string): Cell[] =>
  row.includes('\\') ? row.split('\t').map(readCell) : row.split('\t');

const readCell = (cell: string): Cell =>
  cell === NULL ? null : cell.replace(/\\(.)/gs, (_, letter: string) => escaped[letter] ?? letter);
