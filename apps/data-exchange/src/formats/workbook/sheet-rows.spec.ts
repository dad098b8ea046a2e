import { sheetRows, type SheetRow } from './sheet-rows';
import { XmlScanner, type XmlListener } from './xml-scanner';

const MEBI = 1024 * 1024;

/** Reads a sheet each of whose rows has one cell, which refers to the same text. */
function readRows(count: number, text: string, reference = 'A'): number {
  let rows = 0;
  const context = { strings: { get: () => text }, kinds: [], isFrom1904: false, columnsMax: 1_000 };
  const { open, text: read, close } = sheetRows(context, () => rows++) as Required<XmlListener>;
  for (let row = 1; row <= count; row++) {
    open('row', {});
    open('c', { r: `${reference}${row}`, t: 's' });
    open('v', {});
    read('0');
    close('v');
    close('c');
    close('row');
  }
  return rows;
}

/** Reads the rows of a sheet whose shared texts are all empty. */
function rowsOf(xml: string, columnsMax = 1_000): SheetRow[] {
  const rows: SheetRow[] = [];
  const context = { strings: { get: () => '' }, kinds: [], isFrom1904: false, columnsMax };
  const scanner = new XmlScanner(sheetRows(context, (row) => rows.push(row)));
  scanner.push(`<sheetData>${xml}</sheetData>`);
  scanner.end();
  return rows;
}

const errorCell = (reference: string) => `<c r="${reference}" t="e"><v>#N/A</v></c>`;

describe('the rows of a sheet', () => {
  it('are no more than a large text file has, however often they say the same text', () => {
    const text = 'x'.repeat(MEBI);

    expect(readRows(1_000, text)).toBe(1_000);
    expect(() => readRows(1_024, text)).toThrow('The sheet has more than 1073741824 characters');
  });

  it('are counted with the cells that are empty', () => {
    expect(() => readRows(400_000, 'x', 'ALL')).toThrow('The sheet has more than 1073741824 characters');
  });

  it.each([
    ['name a cell again and again', `<row>${errorCell('A1').repeat(1_000)}</row>`],
    ['go back', `<row>${errorCell('B1')}${errorCell('A1')}</row>`],
    ['have a cell within a cell', `<row><c r="A1" t="e">${errorCell('B1')}<v>#N/A</v></c></row>`],
    ['have a row within a row', `<row><row>${errorCell('A2')}</row></row>`],
    ['have a number with decimals', `<row r="2.5">${errorCell('A2')}</row>`],
    ['have the number of the one before', `<row r="2"/><row r="2">${errorCell('A2')}</row>`],
  ])('are damaged where they %s', (_how, xml) => {
    expect(() => rowsOf(xml)).toThrow('The workbook is damaged.');
  });

  it('hold an error in as many cells as they have at most', () => {
    const emptyText = '<c t="s"><v>0</v></c>';
    const cells = `${errorCell('A1')}${emptyText}${errorCell('D1')}${emptyText}`;

    expect(rowsOf(`<row>${cells}</row>`)).toEqual([[1, ['#N/A', '', '', '#N/A'], [0, 3]]]);
    expect(rowsOf(`<row>${cells}</row>`, 2)).toEqual([[1, ['#N/A', '', '#N/A'], [0]]]);
    expect(rowsOf(`<row>${errorCell('A1').replace('#N/A', '')}${emptyText}</row>`)).toEqual([]);
  });

  it('have no cells that stand outside of them', () => {
    expect(rowsOf(`<row>${errorCell('A1')}</row>${errorCell('B1')}`)).toEqual([[1, ['#N/A'], [0]]]);
  });
});
