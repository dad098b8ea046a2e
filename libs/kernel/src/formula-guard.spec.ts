import fc from 'fast-check';
import { guard, unguard } from './formula-guard';

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
