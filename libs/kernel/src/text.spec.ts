import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { findUnstorable, headOf, isUnstorable, mayHaveUnstorable, storable } from './text';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

describe('the head of a text', () => {
  it('has its first characters', () => {
    expect(headOf('abc', 5)).toBe('abc');
    expect(headOf('abcdef', 3)).toBe('abc');
    expect(headOf('a😀b', 3)).toBe('a😀');
    expect(headOf('a😀b', 2)).toBe('a');
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

describe('what cannot be stored', () => {
  const awkward = fc.string({
    unit: fc.constantFrom('\0', '\u0001', '\ud83d', '\ude00', '😀', '\\', 'u0000', 'ud800', '"', 'a'),
  });
  const anyText = fc.oneof(awkward, fc.string({ unit: 'binary' }));
  const anyJson = fc.letrec((tie) => ({
    value: fc.oneof(anyText, fc.integer(), fc.constant(null), tie('list'), tie('object')),
    list: fc.array(tie('value'), { maxLength: 3 }),
    object: fc.dictionary(anyText, tie('value'), { maxKeys: 3 }),
  })).value;

  it('is recognized in JSON before it is looked for', () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        if (findUnstorable(value) !== undefined) expect(mayHaveUnstorable(JSON.stringify(value))).toBe(true);
      }),
    );
  });

  it('can be stored with other characters in its place, and what can be is left as it is', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(isUnstorable(storable(text))).toBe(false);
        expect(storable(text) === text).toBe(!isUnstorable(text));
      }),
    );
  });
});
