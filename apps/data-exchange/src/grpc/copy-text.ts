import type { Cell } from '../formats/csv-writer';

/** The garbage collector takes large texts for lasting ones, which costs an export more than anything else. */
const PIECE_BYTES = 16_384;
const LINE_FEED = 10;
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
 * Reads whole lines of the text format of `COPY`, some at a time: cells between tabs, `\N` where there is none.
 * See https://www.postgresql.org/docs/current/sql-copy.html, "Text Format".
 */
export function* readCopyText(lines: Buffer): Generator<Cell[][]> {
  for (let begin = 0, end; begin < lines.length; begin = end) {
    end = lines.indexOf(LINE_FEED, Math.min(begin + PIECE_BYTES, lines.length) - 1) + 1;
    yield readLines(lines.toString('utf8', begin, end));
  }
}

function readLines(lines: string): Cell[][] {
  const rows = lines.split('\n').slice(0, -1);
  if (!lines.includes('\\')) return rows.map((row) => row.split('\t'));
  return rows.map((row) => row.split('\t').map(readCell));
}

const readCell = (cell: string): Cell =>
  cell === NULL
    ? null
    : cell.includes('\\')
      ? cell.replace(/\\(.)/gs, (_, letter: string) => escaped[letter] ?? letter)
      : cell;
