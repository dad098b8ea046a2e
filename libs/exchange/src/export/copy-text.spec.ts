import fc from 'fast-check';
import { copiedRows, countCopiedRows, readCopiedRow, type CopiedCell } from './copy-text';

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
const copied = (cell: CopiedCell): string =>
  cell === null ? '\\N' : cell.replace(/[\b\f\n\r\t\v\\]/g, (character) => `\\${letters[character]}`);
const linesOf = (rows: CopiedCell[][]): Buffer =>
  Buffer.from(rows.map((row) => `${row.map(copied).join('\t')}\n`).join(''));
const readBack = (rows: CopiedCell[][]): CopiedCell[][][] =>
  [...copiedRows(linesOf(rows))].map((piece) => piece.map(readCopiedRow));

const cell = fc.oneof(
  fc.constant(null),
  fc.string({ unit: fc.constantFrom(...Object.keys(letters), ...'Nn. ,"\'=-\u00a0\ufeff'), maxLength: 4 }),
  fc.string({ unit: 'grapheme' }),
);
const tables = fc
  .integer({ min: 1, max: 4 })
  .chain((columns) => fc.array(fc.array(cell, { minLength: columns, maxLength: columns }), { maxLength: 8 }));

describe('rows in the text format of COPY', () => {
  it('are read cell by cell, with any content', () => {
    fc.assert(
      fc.property(tables, (rows) => {
        expect(readBack(rows).flat()).toEqual(rows);
        expect(countCopiedRows(linesOf(rows))).toBe(rows.length);
      }),
    );
  });

  it('are read in pieces that never split a row', () => {
    const rows = Array.from({ length: 5_000 }, (_, row) => [`${row}`, 'é'.repeat(row % 90)]);
    const pieces = readBack([...rows, ['long', 'x'.repeat(50_000)]]);

    expect(pieces.length).toBeGreaterThan(10);
    expect(pieces.flat()).toEqual([...rows, ['long', 'x'.repeat(50_000)]]);
  });
});
