import { sheetRows } from './sheet-rows';
import type { XmlListener } from './xml-scanner';

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

describe('the rows of a sheet', () => {
  it('are no more than a large text file has, however often they say the same text', () => {
    const text = 'x'.repeat(MEBI);

    expect(readRows(1_000, text)).toBe(1_000);
    expect(() => readRows(1_024, text)).toThrow('The sheet has more than 1073741824 characters');
  });

  it('are counted with the cells that are empty', () => {
    expect(() => readRows(400_000, 'x', 'ALL')).toThrow('The sheet has more than 1073741824 characters');
  });
});
