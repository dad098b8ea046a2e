import { Readable } from 'node:stream';
import { plainFormat } from '../../test/plain-format';
import { COLUMNS_MAX } from './csv-reader';
import type { CsvFormat } from './file-format';
import { filledRows, readCsv } from './read-csv';
import { UnreadableFile } from './unreadable-file';

describe('a text file', () => {
  const wide = (columns: number) => Array.from({ length: columns }, (_, column) => `c${column}`).join(',');
  const headersOf = async (text: string, format: Partial<CsvFormat> = {}) =>
    (await readCsv(Readable.from([Buffer.from(text)]), { ...plainFormat, ...format })).headers;

  it.each<[string, string, Partial<CsvFormat>]>([
    ['its header', '', {}],
    ['one of its header rows', 'a,b\n', { headerRows: 2 }],
    ['its first row where it has no header', '', { headerRow: 0 }],
  ])(
    'is refused where %s has more columns than are read, as a workbook is',
    async (_which, above, format) => {
      expect(await headersOf(`${above}${wide(COLUMNS_MAX)}\n1,2\n`, format)).toHaveLength(COLUMNS_MAX);
      await expect(headersOf(`${above}${wide(COLUMNS_MAX + 1)}\n1,2\n`, format)).rejects.toThrow(
        `more than ${COLUMNS_MAX} columns`,
      );
    },
  );

  it('has no row where all cells are blank', async () => {
    const text = 'code,title\nA,a\n,\n  ,\nB,\n,,\n"",""\n';
    const { rows } = await readCsv(Readable.from([Buffer.from(text)]), plainFormat);
    const numbers: number[] = [];
    for await (const piece of filledRows(rows)) numbers.push(...piece.map(({ number }) => number));

    expect(numbers).toEqual([2, 5]);
  });

  it('of one column has a row where its cell is blank', async () => {
    const { rows } = await readCsv(Readable.from([Buffer.from('code\nA\n""\n')]), plainFormat);
    const numbers: number[] = [];
    for await (const piece of filledRows(rows)) numbers.push(...piece.map(({ number }) => number));

    expect(numbers).toEqual([2, 3]);
  });

  it('is closed where its header has more columns than are read', async () => {
    const bytes = Readable.from([Buffer.from(`${wide(COLUMNS_MAX + 1)}\n1,2\n`)]);
    await expect(readCsv(bytes, plainFormat)).rejects.toThrow(UnreadableFile);

    expect(bytes.destroyed).toBe(true);
  });
});
