import fc from 'fast-check';
import { CsvReader } from './csv-reader';
import { writeCsvRows } from './csv-writer';
import { guard, unguard } from '@plinth/kernel/formula-guard';

const awkward = fc.stringMatching(/^['"=+\-@\t\r\n0-9.eE,;| a]{0,8}$/);
const anyCell = fc.oneof(awkward, fc.string({ unit: 'binary' }));

describe('the formula guard', () => {
  it('restores every cell exactly', () => {
    fc.assert(fc.property(anyCell, (cell) => expect(unguard(guard(cell))).toBe(cell)));
  });

  it('leaves no cell that starts a formula, except plain numbers', () => {
    fc.assert(
      fc.property(anyCell, (cell) => {
        const guarded = guard(cell);
        expect(/^[=+\-@\t\r]/.test(guarded) && Number.isNaN(Number(guarded))).toBe(false);
      }),
    );
  });

  it('leaves none for readers that split at another character', () => {
    fc.assert(
      fc.property(
        fc.array(anyCell, { minLength: 1, maxLength: 3 }),
        fc.constantFrom(',', ';'),
        (row, delimiter) => {
          const file = writeCsvRows([row], delimiter);
          for (const other of [',', ';', '\t', '|'].filter((one) => one !== delimiter)) {
            const [reader, first] = [new CsvReader({ delimiter: other }), `x${delimiter}`];
            const records = [...reader.push(first + file), ...reader.end()];
            const formulas = records
              .flatMap(({ cells }) => cells)
              // Some readers leave out quotes before a text that they do not enclose.
              .map((cell) => cell.replace(/^"+/, ''))
              .filter((cell) => /^[=+\-@]/.test(cell) && !/^[=+\-@][\d.]*([,;|\s"]|$)/.test(cell));
            expect(formulas).toEqual([]);
          }
        },
      ),
    );
  });

  it.each([
    ['a;=1+1', "a;'=1+1"],
    ['a\n=1+1', "a\n'=1+1"],
    ['a;"=1+1"', 'a;\'"=1+1"'],
    ["a;'=1", "a;''=1"],
    ['a;-5', "a;'-5"],
    ['48.1,-2.5', '48.1,-2.5'],
    ['20,-', '20,-'],
    ['a, -b', 'a, -b'],
    ['=1+1', "'=1+1"],
    ['@sum', "'@sum"],
    ['\tx', "'\tx"],
    ['\rx', "'\rx"],
    ['-5', '-5'],
    ['+1.5e3', '+1.5e3'],
    ['-a', "'-a"],
    ["'=x", "''=x"],
    ["''-5", "'''-5"],
    ["'tis", "'tis"],
    ['', ''],
  ])('writes %j as %j', (cell, expected) => {
    expect(guard(cell)).toBe(expected);
  });
});
