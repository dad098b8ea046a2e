import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { headOf } from './text';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

describe('the head of a text', () => {
  it('has its first characters', () => {
    expect(headOf('abc', 5)).toBe('abc');
    expect(headOf('abcdef', 3)).toBe('abc');
    expect(headOf('a😀b', 3)).toBe('a😀');
  });

  it('does not keep the rest in memory', () => {
    collectGarbage();
    const before = process.memoryUsage().heapUsed;

    const heads = Array.from({ length: 50 }, (_, index) =>
      headOf(
        JSON.parse(JSON.stringify(String.fromCodePoint(97 + (index % 26)).repeat(1_000_000))) as string,
        100,
      ),
    );

    collectGarbage();
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(10_000_000);
    expect(heads).toHaveLength(50);
  });
});
