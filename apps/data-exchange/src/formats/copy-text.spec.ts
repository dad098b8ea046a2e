import fc from 'fast-check';
import { copiedToCsv } from './copied-csv';
import { copiedRows, countCopiedRows, readCopiedRow } from './copy-text';
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
const readBack = (rows: Cell[][]): Cell[][][] =>
  [...copiedRows(linesOf(rows))].map((piece) => piece.map(readCopiedRow));

const cell = fc.oneof(
  fc.constant(null),
  fc.string({ unit: fc.constantFrom(...Object.keys(letters), ...'Nn. ,"\'=-\u00a0\ufeff'), maxLength: 4 }),
  fc.string({ unit: 'grapheme' }),
);
const tables = fc
  .integer({ min: 1, max: 4 })
  .chain((columns) => fc.array(fc.array(cell, { minLength: columns, maxLength: columns }), { maxLength: 8 }));

describe('rows as COPY writes them', () => {
  it('are read cell by cell, whatever the cells hold', () => {
    fc.assert(
      fc.property(tables, (rows) => {
        expect(readBack(rows).flat()).toEqual(rows);
        expect(countCopiedRows(linesOf(rows))).toBe(rows.length);
      }),
    );
  });

  it('are read some at a time, and a row never in parts', () => {
    const rows = Array.from({ length: 5_000 }, (_, row) => [`${row}`, 'é'.repeat(row % 90)]);
    const pieces = readBack([...rows, ['long', 'x'.repeat(50_000)]]);

    expect(pieces.length).toBeGreaterThan(10);
    expect(pieces.flat()).toEqual([...rows, ['long', 'x'.repeat(50_000)]]);
  });

  it('become the CSV that their cells become', () => {
    fc.assert(
      fc.property(tables, (rows) => {
        expect(copiedToCsv(linesOf(rows)).toString()).toBe(rows.map((row) => writeCsvRows([row])).join(''));
      }),
    );
  });
});
