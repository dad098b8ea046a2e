import type { Readable } from 'node:stream';
import type { TextEncoding } from '@plinth/contracts/data-exchange/shapes';
import { inFollowingTurns } from '@plinth/exchange/in-turns';
import { CsvReader } from './csv-reader';
import type { CsvFormat } from './file-format';
import { headerOf } from './read-csv';
import { decodeText } from './text-stream';

/** A part of a file that begins and ends between two records. */
export interface FileRange {
  startByte: number;
  /** Behind the last byte; null is the end of the file. */
  endByte: number | null;
  /** Records of the file before the range, the header included. */
  recordsBefore: number;
}

export const wholeFile: FileRange = { startByte: 0, endByte: null, recordsBefore: 0 };

/** A border can follow each piece of the text, of which a range has about so many. */
const PIECES_OF_RANGE = 16;

/**
 * Splits a text file into ranges of at least so many bytes, each of whole records. It reads the file as an import does,
 * so a line end inside quotes is no border. Where the size of characters cannot be derived from the text, the file
 * stays whole. A file is split the same each time.
 */
export async function indexRecords(
  bytes: Readable,
  format: CsvFormat,
  { sizeBytes, rangeBytes }: { sizeBytes: number; rangeBytes: number },
): Promise<FileRange[]> {
  const reader = new CsvReader(format);
  const lengthOf = byteLengthIn(format.encoding);
  const ranges: FileRange[] = [{ ...wholeFile }];
  let bytesRead = markLength(format);
  const { begin, headerRows } = headerOf(format);
  let recordsOfHeader = 0;
  const pieceLength = Math.ceil(rangeBytes / PIECES_OF_RANGE);
  for await (const piece of inPieces(decodeText(bytes, format.encoding), pieceLength)) {
    const hadHeader = recordsOfHeader >= Math.max(1, headerRows);
    if (hadHeader) await inFollowingTurns(reader.countInSteps(piece));
    else {
      const records = await inFollowingTurns(reader.pushInSteps(piece));
      recordsOfHeader += records.filter(({ number }) => number >= begin).length;
    }
    const hasHeader = recordsOfHeader >= Math.max(1, headerRows);
    bytesRead += lengthOf(piece);
    const rest = reader.rest();
    if (rest === undefined || !hasHeader) continue;
    const border = bytesRead - lengthOf(rest);
    const last = ranges.at(-1)!;
    if (border - last.startByte < rangeBytes) continue;
    last.endByte = border;
    ranges.push({ startByte: border, endByte: null, recordsBefore: reader.recordCount });
  }
  await inFollowingTurns(reader.endInSteps());
  return bytesRead === sizeBytes ? ranges : [{ ...wholeFile }];
}

/** Pieces of the same length, however long those are that the store of the file sends. A pair of surrogates stays together. */
async function* inPieces(texts: AsyncIterable<string>, length: number): AsyncGenerator<string> {
  let rest = '';
  for await (const text of texts) {
    rest += text;
    let start = 0;
    while (rest.length - start > length) {
      const isInPair = /[\ud800-\udbff]/.test(rest.charAt(start + length - 1));
      const end = start + length + (isInPair ? 1 : 0);
      yield rest.slice(start, end);
      start = end;
    }
    rest = rest.slice(start);
  }
  if (rest !== '') yield rest;
}

/** How many bytes a text has in the file, where that can be derived from its characters. */
function byteLengthIn(encoding: TextEncoding): (text: string) => number {
  if (encoding === 'utf-8') return (text) => Buffer.byteLength(text);
  return isUtf16(encoding) ? (text) => text.length * 2 : (text) => text.length;
}

const isUtf16 = (encoding: TextEncoding): boolean => encoding === 'utf-16le' || encoding === 'utf-16be';

function markLength({ encoding, hasByteOrderMark }: CsvFormat): number {
  if (!hasByteOrderMark) return 0;
  return encoding === 'utf-8' ? 3 : 2;
}
