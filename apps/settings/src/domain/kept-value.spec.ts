import fc from 'fast-check';
import { keptValue } from './kept-value';

const text = fc.string({ unit: 'grapheme', maxLength: 3_000, size: 'max' });

describe('what the history keeps of a value', () => {
  it.each([null, '', 'fr', 'x'.repeat(1_024), '字'.repeat(341)])('is all of a short one', (value) => {
    expect(keptValue(value)).toBe(value);
  });

  it('is the beginning of a long one, whose characters are whole', () => {
    expect(keptValue('😀'.repeat(30_000))).toBe(`${'😀'.repeat(256)}…`);
    fc.assert(
      fc.property(text, (value) => {
        const kept = keptValue(value)!;
        expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(1_024 + 3);
        expect(kept === value || value.startsWith(kept.slice(0, -1))).toBe(true);
        expect(kept.isWellFormed()).toBe(value.isWellFormed());
      }),
    );
  });
});
