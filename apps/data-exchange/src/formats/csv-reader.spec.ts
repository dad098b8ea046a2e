import fc from 'fast-check';
import Papa from 'papaparse';
import { CsvReader, type CsvOptions, type FileRecord } from './csv-reader';

const readAll = (
  text: string,
  options: Partial<CsvOptions> = {},
  chunkLength = text.length,
): FileRecord[] => {
  const reader = new CsvReader({ delimiter: ',', ...options });
  const records: FileRecord[] = [];
  for (let at = 0; at < text.length; at += chunkLength || 1)
    records.push(...reader.push(text.slice(at, at + chunkLength)));
  return [...records, ...reader.end()];
};

const cellsOf = (text: string, options?: Partial<CsvOptions>) =>
  readAll(text, options).map(({ cells }) => cells);

const cell = fc.oneof(fc.stringMatching(/^["\r\n, a]{0,5}$/), fc.string({ unit: 'grapheme' }));
const table = fc.array(fc.array(cell, { minLength: 2, maxLength: 4 }), { minLength: 1, maxLength: 6 });
const messy = fc.stringMatching(/^["\r\n, ab]{0,40}$/);

describe('the CSV reader', () => {
  it('reads what papaparse writes, as papaparse reads it', () => {
    fc.assert(
      fc.property(table, fc.constantFrom('\r\n', '\n'), (rows, newline) => {
        const text = Papa.unparse(rows, { newline });
        const expected = Papa.parse<string[]>(text, { delimiter: ',', newline }).data;
        expect(cellsOf(text)).toEqual(expected);
        expect(expected).toEqual(rows);
      }),
    );
  });

  it('reads the same records however the text is divided into chunks', () => {
    fc.assert(
      fc.property(messy, fc.integer({ min: 1, max: 5 }), fc.boolean(), (text, length, endsWithCr) => {
        const options = { endsWithCr, recordLengthMax: 12 };
        expect(readAll(text, options, length)).toEqual(readAll(text, options));
      }),
    );
  });

  it('reads the same records also where a quote is text, whatever comes in the same chunk', () => {
    const quotes = fc.stringMatching(/^[a",\n]{4,18}$/);
    fc.assert(
      fc.property(
        quotes,
        fc.integer({ min: 1, max: 5 }),
        fc.constantFrom(2, 3),
        (text, length, columnCount) => {
          expect(readAll(text, { columnCount }, length)).toEqual(readAll(text, { columnCount }));
        },
      ),
      { numRuns: 2_000, examples: [['"aa"\n""aa,"\n"\n,', 1, 2]] },
    );
  });

  it.each([
    [
      'a,b\n1,2\n',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    [
      'a,b\r\n1,2\n3,4\r\n5,6',
      [
        ['a', 'b'],
        ['1', '2'],
        ['3', '4'],
        ['5', '6'],
      ],
    ],
    [
      'a\rb,c\nd,e',
      [
        ['a\rb', 'c'],
        ['d', 'e'],
      ],
    ],
    ['"a ""b""",c\n', [['a "b"', 'c']]],
    ['"a"b",c\n', [['a"b', 'c']]],
    ['"a" ,b\n', [['a', 'b']]],
    ['5" pipe,b\n', [['5" pipe', 'b']]],
    ['a,b,', [['a', 'b', '']]],
    [',\n', [['', '']]],
    ['""', [['']]],
  ])('reads %j', (text, expected) => {
    expect(cellsOf(text)).toEqual(expected);
  });

  it('reads lines that end with a lone CR', () => {
    expect(cellsOf('a,b\r1,2\r', { endsWithCr: true })).toEqual([
      ['a', 'b'],
      ['1', '2'],
    ]);
  });

  it('counts blank lines in row numbers and skips them', () => {
    expect(readAll('a,b\n\n  \n1,2\n').map(({ number }) => number)).toEqual([1, 4]);
  });

  it('counts a record over several lines as one', () => {
    expect(readAll('a,b\n"1\n\n1",2\n3,4').map(({ number }) => number)).toEqual([1, 2, 3]);
  });

  it('loses only one line to a quote that is never closed', () => {
    expect(readAll('a,b\n"1,2\n3,4\n')).toEqual([
      { number: 1, cells: ['a', 'b'] },
      { number: 2, cells: ['"1,2'], error: 'unclosed-quote' },
      { number: 3, cells: ['3', '4'] },
    ]);
  });

  it('loses only one line to a record beyond the limit', () => {
    const text = `a,b\n${'x'.repeat(50)},y\n"${'z\n'.repeat(20)}\n1,2\n`;
    const records = readAll(text, { recordLengthMax: 30 });
    expect(records.slice(0, 3).map(({ number, error }) => [number, error])).toEqual([
      [1, undefined],
      [2, 'too-long'],
      [3, 'unclosed-quote'],
    ]);
    expect(records.at(-1)!.cells).toEqual(['1', '2']);
  });

  it('refuses a file in which no quote is ever closed', () => {
    const text = '"x y\n'.repeat(2_000);
    expect(() => readAll(text, { recordLengthMax: 100 })).toThrow('never closed');
  });

  it('refuses a file where each scan for the end of a quote comes by very many others', () => {
    const text = `${'"a\n'.repeat(20)}${'"a'.repeat(300_000)}`;
    expect(() => readAll(text, { recordLengthMax: 500_000 })).toThrow('too many quotes');
  });

  it('takes a quote for text only where the record is short then', () => {
    const row = (length: number) => `a,"b,"${'c"'.repeat(length / 2)}\n`;
    const columnsOf = (length: number) => cellsOf(row(length), { columnCount: 3 })[0]!.length;
    expect([columnsOf(1_000), columnsOf(100_000)]).toEqual([3, 2]);
  });

  it('refuses a file in which each record comes by very many quotes before one of them is taken for text', () => {
    const text = '"a"b","c"d\n'.repeat(3_000);
    expect(() => readAll(text, { columnCount: 5 })).toThrow('too many quotes');
    expect(cellsOf('a,"5" pipe",b,c\n'.repeat(3_000), { columnCount: 3 })).toHaveLength(3_000);
  });

  it('reads no more columns than the limit', () => {
    expect(readAll('a,b,c', { columnsMax: 2 })).toEqual([
      { number: 1, cells: ['a', 'b'], error: 'too-many-columns' },
    ]);
  });
});

describe('a reader that tries how a file is read', () => {
  const unclosed = '"a"b"c;\n'.repeat(90);

  it('reads many records in steps, and the same ones', () => {
    const text = `${';'.repeat(1_000)}\n`.repeat(200);
    const reader = new CsvReader({ delimiter: ';' });
    const steps = reader.pushInSteps(text);
    let pauses = 0;
    let step = steps.next();
    for (; !step.done; step = steps.next()) pauses++;

    expect(pauses).toBe(3);
    expect(step.value).toEqual(new CsvReader({ delimiter: ';' }).push(text));
  });

  it('has a budget with others for what it reads again', () => {
    const budget = { left: 12_500 };
    const read = () => {
      const reader = new CsvReader({ delimiter: ';', budget });
      return [...reader.push(unclosed), ...reader.end()];
    };
    expect(read()).toHaveLength(90);
    expect(read).toThrow('too many quotes');
  });
});
