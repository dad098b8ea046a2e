import { isUnstorable } from '@plinth/kernel/text';
import fc from 'fast-check';
import { joinHeaderRows, uniqueHeaders } from './header-names';

const name = fc.oneof(
  fc.constantFrom('', 'a', ' a ', 'a (2)', 'a (3)', 'Column 2', 'x'.repeat(250)),
  fc.string({ unit: 'binary' }),
);

describe('the headers of a file', () => {
  it('can be stored, are short, and each is another one, of which the first keeps its name', () => {
    fc.assert(
      fc.property(fc.array(name, { maxLength: 30 }), (written) => {
        const headers = uniqueHeaders(written);
        expect(new Set(headers).size).toBe(written.length);
        expect(headers.filter((header) => header === '' || isUnstorable(header))).toEqual([]);
        expect(headers.filter((header) => header.replace(/ \(\d+\)$/, '').length > 200)).toEqual([]);
        if (written[0] !== undefined && /^[a-z]{1,200}$/.test(written[0]))
          expect(headers[0]).toBe(written[0]);
      }),
    );
  });

  it('are numbered in the order of their columns', () => {
    expect(uniqueHeaders(['a', 'a (2)', 'a', 'a', '', 'b'])).toEqual([
      'a',
      'a (2)',
      'a (3)',
      'a (4)',
      'Column 5',
      'b',
    ]);
  });

  it('of one row are those of that row', () => {
    fc.assert(
      fc.property(fc.array(name, { maxLength: 30 }), (cells) => {
        expect(joinHeaderRows([cells])).toEqual(cells.map((cell) => cell.trim()));
      }),
    );
  });
});
