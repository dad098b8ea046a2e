import { Readable } from 'node:stream';
import fc from 'fast-check';
import iconv from 'iconv-lite';
import { plainFormat } from '../../test/plain-format';
import type { CsvFormat } from './file-format';
import { readCsv, type FileRow, type FileRows } from './read-csv';
import { indexRecords } from './record-index';

const encodings = ['utf-8', 'utf-16le', 'utf-16be', 'windows-1252', 'shift_jis'] as const;

const rowsOf = async ({ rows }: FileRows): Promise<FileRow[]> => {
  const all: FileRow[] = [];
  for await (const piece of rows) all.push(...piece);
  return all;
};

const readInRanges = async (file: Buffer, format: CsvFormat, rangeBytes: number, chunkBytes: number) => {
  const chunks = Array.from({ length: Math.ceil(file.length / chunkBytes) }, (_, index) =>
    file.subarray(index * chunkBytes, (index + 1) * chunkBytes),
  );
  const ranges = await indexRecords(Readable.from(chunks), format, { sizeBytes: file.length, rangeBytes });
  const { headers } = await readCsv(Readable.from([file]), format);
  const parts = ranges.map(async ({ startByte, endByte, recordsBefore }) => {
    const bytes = Readable.from([file.subarray(startByte, endByte ?? file.length)]);
    return rowsOf(await readCsv(bytes, format, startByte === 0 ? undefined : { headers, recordsBefore }));
  });
  return { ranges, rows: (await Promise.all(parts)).flat() };
};

const cell = fc.oneof(
  fc.stringMatching(/^[a-z0-9 é€]{0,8}$/),
  fc.stringMatching(/^["\r\n,']{0,4}$/).map((text) => `"${text.replaceAll('"', '""')}"`),
  fc.constantFrom('"never closed', 'in"side', '"a"b', '\u00ff', '"two\nlines"', '"three\r\n\r\nlines"'),
);
const line = fc.array(cell, { minLength: 1, maxLength: 4 }).map((cells) => cells.join(','));
const text = fc
  .tuple(fc.array(line, { minLength: 1, maxLength: 30 }), fc.constantFrom('\n', '\r\n', '\r'))
  .map(([lines, end]) => ({ content: `a,b,c${end}${lines.join(end)}`, endsWithCr: end === '\r' }));

describe('indexRecords', () => {
  it('splits a file into ranges with the same rows and numbers as the whole file', async () => {
    await fc.assert(
      fc.asyncProperty(
        text,
        fc.constantFrom(...encodings),
        fc.boolean(),
        fc.integer({ min: 1, max: 60 }),
        fc.integer({ min: 1, max: 40 }),
        fc.constantFrom(undefined, 2, 3),
        async ({ content, endsWithCr }, encoding, marked, rangeBytes, chunkBytes, columnCount) => {
          const hasByteOrderMark = marked && encoding.startsWith('utf');
          const file = iconv.encode(content, encoding, { addBOM: hasByteOrderMark });
          const format = { ...plainFormat, encoding, hasByteOrderMark, endsWithCr, columnCount };
          const whole = await rowsOf(await readCsv(Readable.from([file]), format));

          expect((await readInRanges(file, format, rangeBytes, chunkBytes)).rows).toEqual(whole);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('splits a file the same, in whatever pieces it arrives', async () => {
    const file = Buffer.from(`a,b\n${'é😀,"x\ny"\n'.repeat(500)}`);
    const arriving = [7, 64, 100, file.length].map((chunkBytes) =>
      readInRanges(file, plainFormat, 150, chunkBytes),
    );
    const [first, ...others] = (await Promise.all(arriving)).map(({ ranges }) => ranges);

    for (const other of others) expect(other).toEqual(first);
  });

  it('splits a long file into many ranges', async () => {
    const file = Buffer.from(`a,b\n${'1,"x\ny"\n'.repeat(1_000)}`);
    const { ranges } = await readInRanges(file, plainFormat, 100, 64);

    expect(ranges.length).toBeGreaterThan(50);
    expect(ranges.at(0)).toMatchObject({ startByte: 0, recordsBefore: 0 });
    expect(ranges.at(-1)!.endByte).toBeNull();
  });
});
