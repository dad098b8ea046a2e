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
});
