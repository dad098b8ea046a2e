import { headerOfSheet } from './sheet-header';
import type { SheetRow } from './workbook/sheet-rows';

const rows: SheetRow[] = [
  [6, ['K-1', 'Ada', '1815-12-10', 'yes']],
  [7, ['K-2', 'Grace', '1906-12-09']],
  [8, ['K-3', 'Émile', '1840-04-02', 'no']],
];
const header: SheetRow = [5, ['No.', 'Name', 'Born', 'News']];

describe('the header of a sheet', () => {
  it('is its first row, where nothing stands above it', () => {
    expect(headerOfSheet([header, ...rows])).toEqual({
      names: header[1],
      row: 5,
      findings: [],
      rest: rows,
    });
  });

  it('stands below titles and notes, which are named', () => {
    const above: SheetRow[] = [
      [1, ['Customers']],
      [3, ['', 'as of', '12 November']],
    ];
    expect(headerOfSheet([...above, header, ...rows])).toEqual({
      names: header[1],
      row: 5,
      findings: [{ code: 'Preamble', args: ['4', '4'] }],
      rest: rows,
    });
  });

  it('is the first row of a table of two columns, whatever it is', () => {
    const narrow: SheetRow[] = [
      [1, ['Code']],
      [2, ['A', '1']],
      [3, ['B', '2']],
    ];
    expect(headerOfSheet(narrow)).toMatchObject({ names: ['Code'], row: 1, rest: narrow.slice(1) });
  });

  it('is where it is said to be, also nowhere', () => {
    expect(headerOfSheet([header, ...rows], 6)).toMatchObject({ names: rows[0]![1], row: 6, findings: [] });
    expect(headerOfSheet([header, ...rows], 0)).toMatchObject({ names: ['', '', '', ''], row: 0 });
    expect(headerOfSheet([header, ...rows], 9)).toMatchObject({ names: [], rest: [] });
  });

  it('of an empty sheet has no names', () => {
    expect(headerOfSheet([])).toMatchObject({ names: [], rest: [] });
  });
});
