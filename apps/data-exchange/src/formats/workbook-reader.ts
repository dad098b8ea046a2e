import { once } from 'node:events';
import { readSync, writeSync } from 'node:fs';
import { UnreadableFile } from './unreadable-file.ts';
import { cellStyles } from './workbook/cell-styles.ts';
import {
  SCRATCH_FAILED_EXIT_CODE,
  SCRATCH_FD,
  UNREADABLE_EXIT_CODE,
  WORKBOOK_FD,
  type ReaderLine,
  type ReaderTask,
} from './workbook/reader-protocol.ts';
import { SharedStrings } from './workbook/shared-strings.ts';
import { CELL_LENGTH, sheetRows, type SheetRow } from './workbook/sheet-rows.ts';
import { readWorkbookParts, scanPart } from './workbook/workbook-parts.ts';
import { XmlScanner } from './workbook/xml-scanner.ts';
import type { RandomAccess } from './workbook/zip-directory.ts';
import { readZipPart } from './workbook/zip-part.ts';

/**
 * The process that reads a workbook: it can be killed, run out of memory or hang without harm to others. It has no
 * environment, no right to open files, and two files that are open already.
 */
const CHUNK_BYTES = 64 * 1024;
const ROWS_AT_ONCE = 200;
const LENGTH_AT_ONCE = 1_000_000;

function readAt(fd: number, length: number, position: number): Buffer {
  const buffer = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const read = readSync(fd, buffer, filled, length - filled, position + filled);
    if (read === 0) break;
    filled += read;
  }
  return buffer.subarray(0, filled);
}

/** All of it: on a disk that is nearly full a part is written, and the next one fails. */
function writeAt(fd: number, bytes: Buffer, position: number): void {
  let written = 0;
  while (written < bytes.length)
    written += writeSync(fd, bytes, written, bytes.length - written, position + written);
}

async function* chunks(start: number, end: number): AsyncGenerator<Buffer> {
  for (let at = start; at <= end; at += CHUNK_BYTES)
    yield readAt(WORKBOOK_FD, Math.min(CHUNK_BYTES, end - at + 1), at);
}

async function send(line: ReaderLine): Promise<void> {
  if (!process.stdout.write(`${JSON.stringify(line)}\n`)) await once(process.stdout, 'drain');
}

const lengthOf = ([, cells]: SheetRow): number =>
  cells.reduce((sum, { length }) => sum + length + CELL_LENGTH, 0);

/** Divides rows, whose cells may be long, into pieces that their reader has room for. */
function* inPieces(rows: readonly SheetRow[]): Generator<SheetRow[]> {
  let piece: SheetRow[] = [];
  let length = 0;
  for (const row of rows) {
    piece.push(row);
    length += lengthOf(row);
    if (piece.length < ROWS_AT_ONCE && length < LENGTH_AT_ONCE) continue;
    yield piece;
    piece = [];
    length = 0;
  }
  yield piece;
}

async function run({ sheet: wanted, sizeBytes, columnsMax }: ReaderTask): Promise<void> {
  const file: RandomAccess = {
    sizeBytes,
    read: async (start, end) => readAt(WORKBOOK_FD, end - start + 1, start),
    stream: async (start, end) => chunks(start, end),
  };
  const parts = await readWorkbookParts(file);
  if (!parts) throw new UnreadableFile('The file is no workbook.');
  const sheet = wanted === undefined ? parts.sheets[0] : parts.sheets.find(({ name }) => name === wanted);
  if (!sheet) throw new UnreadableFile(`The workbook has no sheet "${wanted}".`);

  const textBytesMax = parts.sharedStrings?.unpackedBytes ?? 0;
  const strings = new SharedStrings({
    write: (bytes, position) => {
      // Its room was taken by what the directory says. Bytes that are no characters are more of them once they are read.
      if (position + bytes.length > textBytesMax)
        throw new UnreadableFile('The texts of the workbook are damaged.');
      writeAt(SCRATCH_FD, bytes, position);
    },
    read: (length, position) => readAt(SCRATCH_FD, length, position),
  });
  if (parts.sharedStrings) await scanPart(file, parts.sharedStrings, strings.listener());
  const { kinds, listener } = cellStyles();
  if (parts.styles) await scanPart(file, parts.styles, listener);

  let rows: SheetRow[] = [];
  let length = 0;
  const take = (row: SheetRow): void => {
    rows.push(row);
    length += lengthOf(row);
  };
  const scanner = new XmlScanner(
    sheetRows({ strings, kinds, isFrom1904: parts.isFrom1904, columnsMax }, take),
  );
  const decoder = new TextDecoder();
  let unpackedBytes = 0;
  for await (const chunk of readZipPart(file, sheet.part)) {
    unpackedBytes += chunk.length;
    scanner.push(decoder.decode(chunk, { stream: true }));
    if (rows.length < ROWS_AT_ONCE && length < LENGTH_AT_ONCE) continue;
    const share = unpackedBytes / Math.max(1, sheet.part.unpackedBytes);
    for (const piece of inPieces(rows)) await send({ rows: piece, share });
    rows = [];
    length = 0;
  }
  scanner.push(decoder.decode());
  scanner.end();
  for (const piece of inPieces(rows)) await send({ rows: piece, share: 1 });
  await send('end');
}

// It ends by itself, when all that it has written is read: `process.exit` would drop what still waits in its memory.
run(JSON.parse(process.argv[2]!) as ReaderTask).catch((error: unknown) => {
  if (error instanceof UnreadableFile) {
    process.stderr.write(error.message);
    process.exitCode = UNREADABLE_EXIT_CODE;
  } else if ((error as NodeJS.ErrnoException).syscall === 'write')
    process.exitCode = SCRATCH_FAILED_EXIT_CODE;
  else throw error;
});
