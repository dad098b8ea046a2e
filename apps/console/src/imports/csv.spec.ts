import { unguard } from '@plinth/kernel/formula-guard';
import fc from 'fast-check';
import { parse } from 'papaparse';
import { csvOf } from './csv';

describe('a file of corrected rows', () => {
  it('is read with the cells that were typed, whatever they hold', () => {
    const cell = fc.oneof(
      fc.string(),
      fc.constantFrom('', ' a ', '"', "'=1", "''-2", '=1+1', "a;'=1", 'a,b', 'a\r\nb', "'tis"),
    );
    fc.assert(
      fc.property(fc.array(fc.array(cell, { minLength: 3, maxLength: 3 }), { minLength: 1 }), (rows) => {
        const { data } = parse<string[]>(
          csvOf(rows)
            .replace(/^\uFEFF/, '')
            .replace(/\r\n$/, ''),
          {
            delimiter: ',',
            newline: '\r\n',
          },
        );
        expect(data.map((row) => row.map(unguard))).toEqual(rows);
      }),
    );
  });
});
