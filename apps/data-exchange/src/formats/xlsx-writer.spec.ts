import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import ExcelJS from 'exceljs';
import type { Cell } from './csv-writer';
import type { FileColumn } from './file-column';
import { readXlsx } from './read-xlsx';
import { writeXlsx } from './xlsx-writer';

const columns: FileColumn[] = [
  { property: 'code', header: 'Code', type: 'string' },
  { property: 'price', header: 'Price', type: 'number' },
  { property: 'isNew', header: 'New', type: 'boolean' },
  { property: 'since', header: 'Since', type: 'date' },
  { property: 'seenAt', header: 'Seen at', type: 'timestamp' },
];

const written = (rows: Cell[][], sheetRowsMax?: number): Promise<Buffer> =>
  buffer(writeXlsx(columns, Readable.from([rows]), sheetRowsMax));

async function readBack(bytes: Buffer, sheet?: string): Promise<string[][]> {
  const { headers, rows } = await readXlsx(Readable.from([bytes]), { sheet });
  const cells: string[][] = [headers];
  for await (const piece of rows) cells.push(...piece.map((row) => row.cells));
  return cells;
}

describe('writeXlsx', () => {
  it('writes typed cells under a bold, frozen header', async () => {
    const bytes = await written([['A', '1.5', 'true', '2026-11-21', '2026-11-21T10:30:00.000Z']]);
    const workbook = new ExcelJS.Workbook();
    await workbook.xlsx.load(bytes as unknown as ExcelJS.Buffer);
    const sheet = workbook.worksheets[0]!;

    expect(sheet.views).toMatchObject([{ state: 'frozen', ySplit: 1 }]);
    expect(sheet.getRow(1).getCell(1)).toMatchObject({ font: { bold: true }, fill: { pattern: 'solid' } });
    expect(sheet.getColumn(1).width).toBeGreaterThan(sheet.getColumn(2).width!);
    const row = sheet.getRow(2);
    expect([1, 2, 3, 4, 5].map((cell) => row.getCell(cell).type)).toEqual([
      ExcelJS.ValueType.String,
      ExcelJS.ValueType.Number,
      ExcelJS.ValueType.Boolean,
      ExcelJS.ValueType.Date,
      ExcelJS.ValueType.Date,
    ]);
    expect([4, 5].map((cell) => row.getCell(cell).numFmt)).toEqual(['yyyy-mm-dd', 'yyyy-mm-dd hh:mm:ss']);
  });

  it('writes dates that spreadsheets cannot represent as text', async () => {
    const rows = ['1900-02-28', '1900-03-01', '0001-01-01'].map((day) => ['A', '1', 'true', day, null]);

    expect((await readBack(await written(rows))).slice(1).map((cells) => cells[3])).toEqual([
      '1900-02-28',
      '1900-03-01',
      '0001-01-01',
    ]);
  });

  it('continues in a second sheet when the first is full', async () => {
    const bytes = await written(
      [1, 2, 3, 4, 5].map((price) => [`C${price}`, String(price), null, null, null]),
      2,
    );
    const header = ['Code', 'Price', 'New', 'Since', 'Seen at'];

    expect(await readBack(bytes)).toEqual([header, ['C1', '1'], ['C2', '2']]);
    expect(await readBack(bytes, 'Export 2')).toEqual([header, ['C3', '3'], ['C4', '4']]);
    expect(await readBack(bytes, 'Export 3')).toEqual([header, ['C5', '5']]);
  });

  it('stops reading rows when its output is no longer read', async () => {
    const { promise: stopped, resolve } = Promise.withResolvers<void>();
    const endless = async function* () {
      try {
        for (let row = 0; ; row++) yield [[`${row}`, '1', 'true', null, null]];
      } finally {
        resolve();
      }
    };
    const chunks = writeXlsx(columns, endless());
    await chunks.next();
    await chunks.return(undefined);

    await expect(stopped).resolves.toBeUndefined();
  });

  it('fails when reading its rows fails', async () => {
    const broken = async function* () {
      yield [['A', '1', 'true', null, null]];
      throw new Error('No more rows.');
    };

    await expect(buffer(writeXlsx(columns, broken()))).rejects.toThrow('No more rows.');
  });

  it('writes as many columns as a sheet can have', async () => {
    const many = Array.from({ length: 703 }, (_, index) => ({
      property: `p${index}`,
      header: `H${index}`,
      type: 'string',
    }));
    const bytes = await buffer(writeXlsx(many, Readable.from([[many.map(({ property }) => property)]])));
    const workbook = new ExcelJS.Workbook();
    await workbook.xlsx.load(bytes as unknown as ExcelJS.Buffer);
    const sheet = workbook.worksheets[0]!;

    expect(['A2', 'Z2', 'AA2', 'ZZ2', 'AAA2'].map((address) => sheet.getCell(address).value)).toEqual([
      'p0',
      'p25',
      'p26',
      'p701',
      'p702',
    ]);
  });

  it.each(['NaN', 'Infinity', '1e400'])(
    'writes %s, which is no number of a sheet, as text',
    async (number) => {
      expect((await readBack(await written([['A', number, null, null, null]])))[1]).toEqual(['A', number]);
    },
  );

  it.each([
    '=1+1',
    ']]>',
    'a\r\nb\tc',
    '_x000D_',
    '\u0001\u001f',
    ' a ',
    '<&">',
    '😀',
    "'='",
    '007',
    '\ufffe',
    'a\u2028b',
  ])('writes the text %j so that it is read back unchanged', async (text) => {
    expect((await readBack(await written([[text, null, null, null, null]])))[1]).toEqual([text]);
  });

  it.each(['12345678901234567890.5', '0.1', '-1.5', '123456789012345', '0.30000000000000004', '1e-7'])(
    'writes every digit of %s',
    async (number) => {
      expect((await readBack(await written([['A', number, null, null, null]])))[1]).toEqual(['A', number]);
    },
  );
});
