import { unguard } from '@plinth/kernel/formula-guard';
import fc from 'fast-check';
import { parse } from 'papaparse';
import { correctionsOf } from './corrections';
import { csvOf } from './csv';

describe('a file of corrected rows', () => {
  it('is read with the cells that were typed, whatever they hold', () => {
    const cell = fc.oneof(
      fc.string(),
      fc.constantFrom('', ' a ', '"', "'=1", "''-2", '=1+1', "a;'=1", 'a,b', 'a\r\nb', "'tis"),
    );
    const delimiters = fc.constantFrom(',', ';', '\t', '|', ' ');
    const table = fc.array(fc.array(cell, { minLength: 3, maxLength: 3 }), { minLength: 1 });
    fc.assert(
      fc.property(table, delimiters, (rows, delimiter) => {
        const { data } = parse<string[]>(
          csvOf(rows, delimiter)
            .replace(/^\uFEFF/, '')
            .replace(/\r\n$/, ''),
          {
            delimiter,
            newline: '\r\n',
          },
        );
        expect(data.map((row) => row.map(unguard))).toEqual(rows);
      }),
    );
  });

  it('is a correction file, whose numbers and dates are read as those of the upload', () => {
    const rows = [['Ada', 'old error', '1,234;5']];
    expect(correctionsOf({ delimiter: ';' }, ['name', '_Errors', 'sum'], rows)).toBe(
      '\uFEFFname;sum;_Errors\r\nAda;"1,234;5";\r\n',
    );
    expect(correctionsOf({ delimiter: null }, ['name'], [['Ada']])).toBe('\uFEFFname\r\nAda\r\n');
  });
});
