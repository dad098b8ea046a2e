import { CellError } from '@plinth/exchange/field';
import { numberField } from '@plinth/exchange/fields';
import { toPlainCell } from '@plinth/exchange/import/cell-format';
import { atOnce } from '@plinth/exchange/in-turns';
import fc from 'fast-check';
import { cellFormatOf, readEvidence } from './cell-evidence';

const whole = { isWhole: true, columnCount: 0 };

const evidenceOf = (...sample: Parameters<typeof readEvidence>) => atOnce(readEvidence(...sample));

const columnOf = (...cells: string[]): string[][] => cells.map((cell) => [cell]);

describe('readEvidence', () => {
  it('takes a step for each thousand cells', () => {
    const rows = Array.from({ length: 1_000 }, () => Array.from({ length: 20 }, () => '1,5'));
    expect([...readEvidence(rows, whole)].length).toBeGreaterThanOrEqual(38);
  });

  it('counts formats in columns where most cells that are not blank are numbers or dates', () => {
    expect(evidenceOf(columnOf('1,5', '', '7', 'none'), whole)).toMatchObject({ comma: 1 });
    expect(evidenceOf(columnOf('31.12.2026', ''), whole)).toMatchObject({ dates: { DayMonthYear: 1 } });
  });

  it('counts nothing in a column of texts', () => {
    const evidence = evidenceOf(columnOf('1,5', '31.12.2026', 'word', 'another', 'and more'), whole);

    expect(evidence).toMatchObject({ comma: 0, dates: { DayMonthYear: 0 } });
  });

  it.each([
    [['10.010,50 €', '1,00 €'], { comma: 2, dot: 0, currency: '€' }],
    [['$10,010.50', '$ 5.00'], { comma: 0, dot: 2, currency: '$' }],
    [["CHF 10'010.05", 'CHF 1.00'], { dot: 2, currency: 'CHF' }],
    [['1.234,50-', '2,00'], { comma: 2, currency: undefined }],
    [['(1,234.50)', '2.00'], { dot: 2, currency: undefined }],
    [['12,34,567', '1'], { dot: 1 }],
    [['10 500.00', '1'], { dot: 1 }],
    [['ART 1.5', 'ART 2.5'], { dot: 0, currency: undefined }],
  ])('reads amounts such as %j', (cells, expected) => {
    expect(evidenceOf(columnOf(...cells), whole)).toMatchObject(expected);
  });

  const dollars = [
    ['5.00 USD', 'Ada'],
    ['', 'Bob'],
    ['6.00 USD', 'Eve'],
  ];
  it.each([[['0']], [['0.00']], [['7.00 USD', 'TOP 10']], [['7.00 USD', 'AMD 5600']]])(
    'finds a currency beside %j',
    (row) => {
      expect(evidenceOf([...dollars, row], whole).currency).toBe('USD');
    },
  );

  it.each([
    ['numbers of its column have none', [['7.00', '']]],
    ['its column has another', [['7.00 EUR', '']]],
    ['another column has another', [['7.00 USD', '', '€5']]],
    ['another stands among texts', [['7.00 USD', '€5']]],
  ])('leaves a currency with its numbers where %s', (_, rows) => {
    expect(evidenceOf(dollars, whole).currency).toBe('USD');
    expect(evidenceOf([...dollars, ...rows], whole).currency).toBeUndefined();
  });
});

const field = numberField({ column: 'price', header: 'Price' });

/** The numbers of a file that somebody uploads; undefined where one is refused. */
async function readNumbers(
  rows: readonly (readonly string[])[],
  culture: string,
  sampled: readonly (readonly string[])[] = rows,
) {
  const sample = { isWhole: sampled === rows, columnCount: 2 };
  const format = await cellFormatOf(evidenceOf(sampled, sample), () => Promise.resolve(culture));
  const { unclearColumns = [], ...common } = format;
  return rows.map((row) =>
    row.map((cell, column) => {
      const isUnclear = unclearColumns.includes(column);
      const toPlain = toPlainCell('number', isUnclear ? { ...common, hasOtherDecimals: true } : common);
      const plain = toPlain ? toPlain(cell) : cell;
      const value = plain instanceof CellError ? plain : field.parse(plain);
      return value instanceof CellError ? undefined : Number(value);
    }),
  );
}

describe('the numbers of a file', () => {
  it.each([
    ['prices in whole euros', 'en', columnOf('1.234 €', '2.500 €', '999 €'), [undefined, undefined, 999]],
    ['prices in whole dollars', 'de', columnOf('$1,000', '$2,500'), [undefined, undefined]],
    ['prices in whole dollars', 'en', columnOf('$1,000', '$2,500'), [1000, 2500]],
    ['prices among coordinates', 'de', [['1.234 €', '48.1']], [undefined]],
    ['prices of a piece', 'de', columnOf('0,125 €', '0,250 €', '12,50 €'), [0.125, 0.25, 12.5]],
    ['prices with one that is free', 'en', columnOf('$5.00', '0', '$0.125'), [5, 0, 0.125]],
  ])('%s of somebody with the culture %s', async (_, culture, rows, expected) => {
    expect((await readNumbers(rows, culture)).map(([value]) => value)).toEqual(expected);
  });

  it.each([
    [
      'prices and coordinates',
      [
        ['1,50', '48.137'],
        ['2,75', '11.5754'],
        ['1.234,20', '52.520'],
      ],
      [
        [1.5, undefined],
        [2.75, undefined],
        [1234.2, undefined],
      ],
    ],
    [
      'prices and coordinates of three decimals',
      [
        ['1.234,50 €', '48.137'],
        ['2.750 €', '11.575'],
      ],
      [
        [1234.5, undefined],
        [2750, undefined],
      ],
    ],
    [
      'prices and inhabitants',
      [
        ['1.234,50 €', '48.130', '1.234.567'],
        ['2,75 €', '999', '11.575'],
      ],
      [
        [1234.5, 48130, 1234567],
        [2.75, 999, 11575],
      ],
    ],
    [
      'prices and rooms',
      [
        ['1,2', '1,234.56'],
        ['1,234', '2,345.00'],
        ['3', '48.137'],
      ],
      [
        [undefined, 1234.56],
        [undefined, 2345],
        [3, 48.137],
      ],
    ],
  ])(
    'are read where they have one meaning, though columns contradict each other: %s',
    async (_, rows, read) => {
      for (const culture of ['en', 'de']) expect(await readNumbers(rows, culture)).toEqual(read);
    },
  );

  it.each([
    [
      'a column of words for nothing',
      [
        ['1.234,50', 'NULL'],
        ['2.345,60', 'n/a'],
        ['3.456,70', 'NULL'],
        ['2,00', '48.137'],
      ],
    ],
    [
      'a column of texts',
      [
        ['1.234,50', 'unknown'],
        ['2.345,60', 'here'],
        ['2,00', '48.137'],
      ],
    ],
    [
      'a column with a zero',
      [
        ['1,50', '12.340'],
        ['2,75', '0'],
        ['2,00', '48.137'],
      ],
    ],
    [
      'a column of texts with a decimal dot',
      [
        ['1.234,50', 'unknown'],
        ['2.345,60', 'unknown'],
        ['3.456,70', 'unknown'],
        ['4,00', '48.5'],
        ['2,00', '48.137'],
      ],
    ],
  ])('before three digits are refused in %s beside decimal commas', async (_, rows) => {
    expect((await readNumbers(rows, 'de')).at(-1)).toEqual([2, undefined]);
  });

  it('before three digits are refused in a column of texts with a decimal comma beside decimal dots', async () => {
    const rows = [
      ['1234.50', 'unknown'],
      ['2.60', 'unknown'],
      ['3.70', 'unknown'],
      ['1.5', '48,1'],
      ['2.25', '48,137'],
    ];

    expect((await readNumbers(rows, 'de')).at(-1)).toEqual([2.25, undefined]);
    const withoutDecimalComma = rows.filter(([, cell]) => cell !== '48,1');
    expect((await readNumbers(withoutDecimalComma, 'de')).at(-1)).toEqual([2.25, 48137]);
  });

  it.each([
    ['is empty', ['1.234,50', ''], undefined],
    ['is left out', ['1.234,50'], undefined],
    ['has whole numbers', ['1.234,50', '7'], undefined],
    ['has decimal commas', ['1.234,50', '7,5'], 48137],
    ['has two groups', ['1.234,50', '1.234.567'], 48137],
    ['has a currency', ['1.234,50', '7,50 €'], 48137],
  ])('below the sample are as clear as their column in it, which %s', async (_, row, expected) => {
    const sampled = [row, row];
    const rows = [...sampled, ['2,00', '48.137']];

    expect((await readNumbers(rows, 'de', sampled)).at(-1)).toEqual([2, expected]);
  });

  const cultures = ['en', 'de', 'fr', 'es', 'de-CH', 'en-IN', 'pt-BR', 'pl'] as const;
  const currencies = ['EUR', 'USD', 'CHF', 'JPY', 'INR', 'GBP'];
  const numbers = fc.array(fc.oneof(fc.nat(9_999), fc.nat(99_999_999)), { minLength: 1, maxLength: 5 });

  it('are read as Intl.NumberFormat wrote them, or refused', async () => {
    const file = fc.record({
      cents: numbers,
      culture: fc.constantFrom(...cultures),
      uploader: fc.constantFrom(...cultures),
      style: fc.oneof(
        fc.constant({ minimumFractionDigits: 2 }),
        fc.record({
          style: fc.constant('currency' as const),
          currency: fc.constantFrom(...currencies),
          maximumFractionDigits: fc.constantFrom(0, 2),
        }),
      ),
      besides: fc.constantFrom([], ['0.5'], ['0,5']),
    });
    await fc.assert(
      fc.asyncProperty(file, async ({ cents, culture, uploader, style, besides }) => {
        const { format } = new Intl.NumberFormat(culture, style);
        const isWhole = 'maximumFractionDigits' in style && style.maximumFractionDigits === 0;
        const written = cents.map((number) => (isWhole ? number : number / 100));
        const rows = written.map((number) => [format(number), ...besides]);
        const read = await readNumbers(rows, uploader);
        for (const [index, [value]] of read.entries()) expect([written[index], undefined]).toContain(value);
      }),
      { numRuns: 500 },
    );
  });
});
