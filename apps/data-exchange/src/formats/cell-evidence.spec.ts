import { readEvidence } from './cell-evidence';

const columnOf = (...cells: string[]): string[][] => cells.map((cell) => [cell]);

describe('readEvidence', () => {
  it('counts formats in columns where most cells that are not blank are numbers or dates', () => {
    expect(readEvidence(columnOf('1,5', '', '7', 'none'))).toMatchObject({ comma: 1 });
    expect(readEvidence(columnOf('31.12.2026', ''))).toMatchObject({ dates: { DayMonthYear: 1 } });
  });

  it('counts nothing in a column of texts', () => {
    const evidence = readEvidence(columnOf('1,5', '31.12.2026', 'word', 'another', 'and more'));

    expect(evidence).toMatchObject({ comma: 0, dates: { DayMonthYear: 0 } });
  });

  it.each([
    [['10.010,50 €', '1,00 €'], { comma: 2, dot: 0, currencies: ['€'] }],
    [['$10,010.50', '$ 5.00'], { comma: 0, dot: 2, currencies: ['$'] }],
    [["CHF 10'010.05", 'CHF 1.00'], { dot: 2, currencies: ['CHF'] }],
    [['1.234,50-', '2,00'], { comma: 2, currencies: [] }],
    [['(1,234.50)', '2.00'], { dot: 2, currencies: [] }],
    [['12,34,567', '1'], { dot: 1 }],
    [['10 500.00', '1'], { dot: 1 }],
    [['ART 1.5', 'ART 2.5'], { dot: 0, currencies: [] }],
  ])('reads amounts such as %j', (cells, expected) => {
    expect(readEvidence(columnOf(...cells))).toMatchObject(expected);
  });

  it('leaves a currency with its numbers where a column has several', () => {
    const rows = [
      ['5.00 USD', '5.00 CHF', '€5'],
      ['5.00 EUR', '6.00 CHF', '€6'],
    ];
    expect(readEvidence(rows).currencies).toEqual(['CHF', '€']);
    expect(readEvidence(rows.map((row) => [...row, '7.00 USD'])).currencies).toEqual(['CHF', '€']);
  });
});
