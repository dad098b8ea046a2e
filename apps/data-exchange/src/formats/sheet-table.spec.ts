import { atOnce } from '@plinth/exchange/in-turns';
import { tableOfSheet as tableInSteps, type SheetTable } from './sheet-table';

const tableOfSheet = (...sheet: Parameters<typeof tableInSteps>): SheetTable =>
  atOnce(tableInSteps(...sheet));
import type { SheetRow } from './workbook/sheet-rows';

const rows: SheetRow[] = [
  [6, ['K-1', 'Ada', '1815-12-10', 'yes']],
  [7, ['K-2', 'Grace', '1906-12-09']],
  [8, ['K-3', 'Émile', '1840-04-02', 'no']],
];
const header: SheetRow = [5, ['No.', 'Name', 'Born', 'News']];
const usual = { names: header[1], headerRow: 5, headerRows: 1, lastRow: 0, findings: [], rest: rows };

const codesOf = ({ findings }: SheetTable) => findings.map(({ code }) => code);

describe('the header of a sheet', () => {
  it('is its first row, where nothing stands above it', () => {
    expect(tableOfSheet([header, ...rows], {}, true)).toEqual(usual);
  });

  it('stands below titles and notes, which are named', () => {
    const above: SheetRow[] = [
      [1, ['Customers']],
      [3, ['', 'as of', '12 November']],
    ];
    const findings = [{ code: 'Preamble', args: ['4', '4'] }];
    expect(tableOfSheet([...above, header, ...rows], {}, true)).toEqual({ ...usual, findings });
    const right: SheetRow = [4, ['Customers', 'as of 12 November']];
    expect(tableOfSheet([right, header, ...rows], {}, true)).toEqual({ ...usual, findings });
  });

  it('is the first row of a table of two columns, whatever it is', () => {
    const narrow: SheetRow[] = [
      [1, ['Code']],
      [2, ['A', '1']],
      [3, ['B', '2']],
    ];
    expect(tableOfSheet(narrow, {})).toMatchObject({ names: ['Code'], headerRow: 1, rest: narrow.slice(1) });
  });

  it('is where it is said to be, also nowhere', () => {
    const all = [header, ...rows];
    expect(tableOfSheet(all, { headerRow: 6 })).toMatchObject({
      names: rows[0]![1],
      headerRow: 6,
      findings: [],
    });
    expect(tableOfSheet(all, { headerRow: 0 })).toMatchObject({
      names: ['', '', '', ''],
      headerRow: 0,
      rest: all,
    });
    expect(tableOfSheet([[1, ['Customers']], ...rows], { headerRow: 0 })).toMatchObject({
      headerRow: 0,
      findings: [{ code: 'Preamble' }],
      rest: rows,
    });
    expect(tableOfSheet(all, { headerRow: 9 })).toMatchObject({ names: [], rest: [] });
  });

  it('of an empty sheet has no names', () => {
    expect(tableOfSheet([], {}, true)).toMatchObject({ names: [], rest: [], findings: [] });
  });

  it.each<[string, SheetRow[], string[]]>([
    [
      'over fewer columns than half',
      [
        [4, ['No.', '', 'Person', '', '', '', 'News']],
        [5, ['', 'Short', 'Name', 'Born', 'Died', 'Famous for']],
      ],
      ['No.', 'Short', 'Person Name', 'Person Born', 'Person Died', 'Person Famous for', 'News'],
    ],
    [
      'over more columns than half',
      [
        [4, ['No.', 'Short', 'Person', '', '', 'Famous for', 'News']],
        [5, ['', '', 'Name', 'Born', 'Died']],
      ],
      ['No.', 'Short', 'Person Name', 'Person Born', 'Person Died', 'Famous for', 'News'],
    ],
  ])('of cells that are merged has two rows, whose names are joined: %s', (_how, headers, names) => {
    const people: SheetRow[] = [
      [6, ['1', 'AL', 'Ada', '1815-12-10', '1852-11-27', 'Notes', 'yes']],
      [7, ['2', 'GH', 'Grace', '1906-12-09', '1992-01-01', 'COBOL', 'no']],
      [8, ['3', 'EB', 'Émile', '1840-04-02', '1902-09-29', 'Books']],
    ];
    const table = tableOfSheet([...headers, ...people], {}, true);

    expect(table).toMatchObject({ names, headerRow: 4, headerRows: 2, rest: people });
    expect(codesOf(table)).toEqual(['HeaderRows']);
    expect(tableOfSheet([...headers, ...people], { headerRow: 5 })).toMatchObject({
      names: headers[1]![1],
      headerRows: 1,
    });
  });

  it('is none where the first row is like the others', () => {
    const table = tableOfSheet(rows, {}, true);

    expect(table).toMatchObject({ names: ['', '', '', ''], headerRow: 0, headerRows: 0, rest: rows });
    expect(codesOf(table)).toEqual(['NoHeader']);
  });
});

describe('the end of the table of a sheet', () => {
  const sales: SheetRow[] = [
    [1, ['No.', 'Name', 'Sum']],
    [2, ['1', 'Ada', '10']],
    [3, ['2', 'Grace', '20.5']],
    [4, ['3', 'Émile', '30']],
  ];

  const total: SheetRow = [5, ['', 'Total', '60.5']];
  const note = (row: number): SheetRow => [row, ['Made by Ada']];

  it.each<[string, SheetRow[], number, string[]]>([
    ['totals', [total], 4, ['Totals']],
    ['text', [note(6)], 5, ['Footnote']],
    ['totals and text', [total, note(7)], 4, ['Totals', 'Footnote']],
  ])('is above %s, which are named', (_what, below, lastRow, findings) => {
    const table = tableOfSheet([...sales, ...below], {}, true);

    expect(table.lastRow).toBe(lastRow);
    expect(codesOf(table)).toEqual(findings);
  });

  it('is where it is said to be, and not known before the whole sheet is', () => {
    const all = [...sales, total];

    expect(tableOfSheet(all, { lastRow: 0 }, true)).toMatchObject({ lastRow: 0, findings: [] });
    expect(tableOfSheet(all, { lastRow: 3 }, true)).toMatchObject({ lastRow: 3, findings: [] });
    expect(tableOfSheet(all, {}, false)).toMatchObject({ lastRow: 0, findings: [] });
  });
});
