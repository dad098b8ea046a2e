import fc from 'fast-check';
import { CsvReader } from './csv-reader';
import { writeCsvRows } from './csv-writer';
import { unguard } from '@plinth/kernel/formula-guard';

const cell = fc.oneof(fc.stringMatching(/^["'=\r\n,; \t\-1a]{0,6}$/), fc.string({ unit: 'grapheme' }));
const rowOf = (columns: number) => fc.array(cell, { minLength: columns, maxLength: columns });
const tables = fc
  .integer({ min: 1, max: 4 })
  .chain((columns) => fc.array(rowOf(columns), { minLength: 1, maxLength: 8 }));

describe('the CSV writer', () => {
  it('writes rows that the CSV reader reads back cell by cell', () => {
    fc.assert(
      fc.property(tables, fc.constantFrom(',', ';', '\t', '|'), (rows, delimiter) => {
        const reader = new CsvReader({ delimiter });
        const records = [...reader.push(writeCsvRows(rows, delimiter)), ...reader.end()];
        expect(records.map(({ cells }) => cells.map(unguard))).toEqual(rows);
      }),
    );
  });

  it.each(['', ' ', '\u00a0'])('quotes the single cell %j of a row, which would be a blank line', (blank) => {
    expect(writeCsvRows([[blank], ['a']])).toBe(`"${blank}"\r\na\r\n`);
  });

  it('writes numbers bare and nothing for null', () => {
    expect(writeCsvRows([['-5', null, '-x']])).toBe("-5,,'-x\r\n");
  });
});
