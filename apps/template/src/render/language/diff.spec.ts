import fc from 'fast-check';
import { unifiedDiff } from './diff';

const NAMES = { from: 'one', to: 'two' };
const lines = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 12 });

/** How many lines two texts have in common, in the same order. */
function commonLines(from: readonly string[], to: readonly string[]): number {
  const best = from.map(() => to.map(() => 0));
  const at = (x: number, y: number) => (x < 0 || y < 0 ? 0 : best[x]![y]!);
  from.forEach((one, x) =>
    to.forEach((other, y) => {
      best[x]![y] = one === other ? at(x - 1, y - 1) + 1 : Math.max(at(x - 1, y), at(x, y - 1));
    }),
  );
  return at(from.length - 1, to.length - 1);
}

const countOf = (diff: string, mark: string): number =>
  diff
    .split('\n')
    .slice(2)
    .filter((line) => line.startsWith(mark)).length;

describe('a unified diff', () => {
  it('says what is shown in the format that tools read', () => {
    expect(unifiedDiff('a\nb\nc\n', 'a\nx\nc\n', NAMES)).toBe(
      '--- one\n+++ two\n@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n',
    );
    expect(unifiedDiff('a', 'a', NAMES)).toBe('');
  });

  it('has no more edits than are needed', () => {
    fc.assert(
      fc.property(lines, lines, (from, to) => {
        const diff = unifiedDiff(
          from.map((line) => `${line}\n`).join(''),
          to.map((line) => `${line}\n`).join(''),
          NAMES,
        );
        const common = commonLines(from, to);
        expect(countOf(diff, '-')).toBe(from.length - common);
        expect(countOf(diff, '+')).toBe(to.length - common);
      }),
    );
  });

  it('replaces texts that have nothing in common', () => {
    const linesOf = (name: string) =>
      Array.from({ length: 2_000 }, (_, number) => `${name}${number}\n`).join('');
    const diff = unifiedDiff(linesOf('a'), linesOf('b'), NAMES);
    expect([countOf(diff, '-'), countOf(diff, '+')]).toEqual([2_000, 2_000]);
  });
});
