import * as fc from 'fast-check';
import { counted, cutTo, printable, progressLine, table } from './terminal';

describe('a line about running work', () => {
  it('says rows, failures, rate and the time that is left', () => {
    expect(progressLine(5_000, 1_200, 1_000, 5)).toBe(
      '████████████░░░░░░░░░░░░ 5,000 rows, 1,200 failed, 1,000/s, 5 s left',
    );
    expect(progressLine(10, 0, 0, undefined)).toBe('░░░░░░░░░░░░░░░░░░░░░░░░ 10 rows, 0/s');
  });

  it('has a bar of the same width at every moment', () => {
    const seconds = fc.option(fc.double({ min: 0, max: 1e6, noNaN: true }), { nil: undefined });
    fc.assert(
      fc.property(fc.nat(), fc.double({ min: 0, max: 1e6, noNaN: true }), seconds, (rows, rate, left) => {
        expect(progressLine(rows, 0, rate, left)).toMatch(/^[█░]{24} /);
      }),
    );
  });
});

it('counts one thing as one', () => {
  expect([counted(0, 'row'), counted(1, 'row'), counted(12_345, 'row')]).toEqual([
    '0 rows',
    '1 row',
    '12,345 rows',
  ]);
});

it('cuts a line that is redrawn at the width of the terminal', () => {
  expect(cutTo(3, '█░░░ 10 rows')).toBe('█░░');
  expect(cutTo(80, '10 rows')).toBe('10 rows');
});

describe('a table', () => {
  it('lets no text of a file steer the terminal', () => {
    expect(table(['Text'], [['red\u001b[31m\u202e!']])).toBe(
      'Text\n──────────\nred [31m !'.replace('──────────', '─'.repeat(10)),
    );
  });
});

it('text of others neither steers the terminal nor turns its order around', () => {
  expect(printable('a\tb\n\u001b]0;title\u0007\r\u009b2J\u202ex')).toBe(
    'a\tb\n\ufffd]0;title\ufffd\ufffd\ufffd2J\ufffdx',
  );
  expect(printable('Événement 😀 日本')).toBe('Événement 😀 日本');
});
