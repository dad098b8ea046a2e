import fc from 'fast-check';
import { copiedToCsv } from './copied-csv';
import { writeCsvRows, type Cell } from './csv-writer';

/** As Postgres writes it; the round trip of exports proves the same with Postgres itself. */
const letters: Record<string, string> = {
  '\b': 'b',
  '\f': 'f',
  '\n': 'n',
  '\r': 'r',
  '\t': 't',
  '\v': 'v',
  '\\': '\\',
};
const copied = (cell: Cell): string =>
  cell === null ? '\\N' : cell.replace(/[\b\f\n\r\t\v\\]/g, (character) => `\\${letters[character]}`);
const linesOf = (rows: Cell[][]): Buffer =>
  Buffer.from(rows.map((row) => `${row.map(copied).join('\t')}\n`).join(''));

const cell = fc.oneof(
  fc.constant(null),
  fc.string({ unit: fc.constantFrom(...Object.keys(letters), ...'Nn. ,;|"\'=-\u00a0\ufeff'), maxLength: 4 }),
  fc.string({ unit: 'grapheme' }),
);
const tables = fc
  .integer({ min: 1, max: 4 })
  .chain((columns) => fc.array(fc.array(cell, { minLength: columns, maxLength: columns }), { maxLength: 8 }));

describe('copiedToCsv', () => {
  it('writes rows of COPY exactly as writeCsvRows writes their cells', () => {
    fc.assert(
      fc.property(tables, (rows) => {
        expect(copiedToCsv(linesOf(rows)).toString()).toBe(rows.map((row) => writeCsvRows([row])).join(''));
      }),
    );
  });
});
