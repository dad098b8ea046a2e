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

/**
 * Splits a text file into ranges of at least so many bytes, each of whole records. It reads the file as an import does,
 * so a line end inside quotes is no border. Where the size of characters cannot be derived from the text, the file
 * stays whole.
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
  for await (const piece of inPieces(decodeText(bytes, format.encoding), rangeBytes)) {
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

/** A border can follow each piece, so none is longer than a range; a pair of surrogates stays together. */
async function* inPieces(texts: AsyncIterable<string>, lengthMax: number): AsyncGenerator<string> {
  for await (const text of texts) {
    for (let start = 0; start < text.length;) {
      let end = Math.min(text.length, start + lengthMax);
      if (/[\ud800-\udbff]/.test(text.charAt(end - 1))) end = Math.min(text.length, end + 1);
      yield text.slice(start, end);
      start = end;
    }
  }
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
