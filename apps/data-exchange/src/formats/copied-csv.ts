import { LINE_FEED, readCopiedRow, TAB } from '@plinth/exchange/export/copy-text';
import { writeCsvRows } from './csv-writer';

const CARRIAGE_RETURN = 13;
const SPACE = 32;
const COMMA = 44;

const bytesOf = (characters: string): Set<number> => new Set(Buffer.from(characters));
const isIn = (bytes: Set<number>) => Uint8Array.from({ length: 256 }, (_, byte) => (bytes.has(byte) ? 1 : 0));

/** Needs a quote or is escaped; the last one begins a byte order mark. */
const special = isIn(bytesOf('",\\').add(0xef));
/** Begins a cell for readers that split at another character. */
const otherDelimiter = isIn(bytesOf(';|'));
/** Needs a quote or a guard where a cell begins with it. */
const specialAtBegin = isIn(bytesOf(` '=+-@`));

const beginsSpecial = (last: number, byte: number): boolean =>
  specialAtBegin[byte] === 1 && (last === TAB || otherDelimiter[last] === 1);

/** A reused buffer for rows: large buffers are returned to the system late. */
let scratch = Buffer.alloc(0);

/**
 * Writes whole lines of `COPY` as CSV, as `writeCsvRows` writes their cells. Most rows only need other bytes between
 * their cells and at their end: they never become strings, which would be most of the work of an export.
 */
export function copiedToCsv(lines: Buffer): Buffer {
  const pieces: Buffer[] = [];
  if (scratch.length < lines.length * 2) scratch = Buffer.allocUnsafe(lines.length * 2);
  let written = scratch;
  let length = 0;
  for (let begin = 0, end; begin < lines.length; begin = end + 1) {
    end = lines.indexOf(LINE_FEED, begin);
    const next = writePlain(lines, begin, end, written, length);
    if (next >= 0) {
      length = next;
      continue;
    }
    const row = Buffer.from(writeCsvRows([readCopiedRow(lines.toString('utf8', begin, end))]));
    pieces.push(written.subarray(0, length), row);
    written = written.subarray(length);
    length = 0;
  }
  return Buffer.concat([...pieces, written.subarray(0, length)]);
}

/** Writes a row whose formats differ only in delimiters; returns where it ends, or -1 for any other row. */
function writePlain(lines: Buffer, begin: number, end: number, written: Buffer, at: number): number {
  let position = at;
  let last = TAB;
  let cells = 1;
  for (let index = begin; index < end; index++) {
    const byte = lines[index]!;
    if (special[byte] === 1 || beginsSpecial(last, byte)) return -1;
    if (byte === TAB) {
      if (last === SPACE) return -1;
      cells++;
      written[position++] = COMMA;
    } else written[position++] = byte;
    last = byte;
  }
  // A row of one cell may be blank, in any of the alphabets that have spaces.
  if (cells === 1 || last === SPACE) return -1;
  written[position++] = CARRIAGE_RETURN;
  written[position++] = LINE_FEED;
  return position;
}
