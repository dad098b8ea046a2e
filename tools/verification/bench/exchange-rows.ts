import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import Papa from 'papaparse';
import { readCldrRows, type Row } from '../../development/demo/cldr-rows.ts';

const PIECE_ROWS = 1_000;

/** Rows of real names in pieces. More rows than there are names: the same names under further keys. */
export function* manyRows(count: number): Generator<Row[]> {
  const names = readCldrRows();
  for (let done = 0; done < count; done += PIECE_ROWS) {
    yield Array.from({ length: Math.min(PIECE_ROWS, count - done) }, (_, at): Row => {
      const index = done + at;
      const [resource, culture, key, value] = names[index % names.length]!;
      const round = Math.floor(index / names.length);
      return round === 0 ? [resource, culture, key, value] : [resource, culture, `${key}.${round}`, value];
    });
  }
}

/** The file that is imported; where `brokenEvery` is given, one row of so many has no culture. */
export async function writeCsv(path: string, rowCount: number, brokenEvery = Infinity): Promise<void> {
  const lines = function* () {
    yield 'resource,culture,key,value\r\n';
    let index = 0;
    for (const rows of manyRows(rowCount)) {
      const written = rows.map(([resource, culture, key, value]) =>
        ++index % brokenEvery === 0 ? [resource, 'no culture', key, value] : [resource, culture, key, value],
      );
      yield `${Papa.unparse(written)}\r\n`;
    }
  };
  await pipeline(Readable.from(lines()), createWriteStream(path));
}

const escape = (text: string): string => text.replace(/[\\\t\n\r]/g, (character) => `\\${character}`);

/** The same rows in the text format of `COPY`; `before` returns the further columns of a row. */
export async function writeCopyText(path: string, rowCount: number, before: () => string): Promise<void> {
  const lines = function* () {
    for (const rows of manyRows(rowCount))
      yield rows.map((row) => `${before()}\t${row.map(escape).join('\t')}\n`).join('');
  };
  await pipeline(Readable.from(lines()), createWriteStream(path));
}
