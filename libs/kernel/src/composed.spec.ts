import fc from 'fast-check';
import { composed, isLongerThan, MARKS_IN_ROW_MAX, plain } from './composed';

/** Marks of several classes, which normalizing sorts, and what they may stand at. */
const marks = ['\u0301', '\u0316', '\u0344', '\u0f73', '\u093f', '\u{1e8d0}', '\u20dd'];
const awkward = fc.string({
  unit: fc.constantFrom(
    ...marks,
    ...marks,
    'a',
    'é',
    '\u1100',
    '\u1161',
    '\u11a8',
    '가',
    '😀',
    '漢',
    '\ud83d',
    '\ude00',
  ),
  maxLength: 200,
});
const anyText = fc.oneof(awkward, fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }));

const longestRow = (text: string): number =>
  Math.max(0, ...(text.match(/\p{M}+/gu) ?? []).map((row) => row.length));
const row = (length: number): string => '\u0301\u0316'.repeat(length / 2) + '\u0301'.repeat(length % 2);

describe('the composed form of a text', () => {
  let normalize: jest.SpyInstance;
  beforeEach(() => {
    normalize = jest.spyOn(String.prototype, 'normalize');
  });
  afterEach(() => {
    normalize.mockRestore();
  });

  it('is that of Unicode where marks are in rows as in words', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const expected = text.normalize('NFC');
        const isLong = Math.max(longestRow(text), longestRow(expected)) > MARKS_IN_ROW_MAX;
        expect(composed(text)).toBe(isLong ? undefined : expected);
      }),
      { numRuns: 1_000 },
    );
  });

  it('is composed of itself', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const once = composed(text);
        if (once !== undefined) expect(composed(once)).toBe(once);
      }),
    );
  });

  it.each([0, 1, 29, 30, 31, 61, 1_000])(
    'has no long row of marks, wherever it begins: after %d characters',
    (before) => {
      const text = (length: number) => `${'a'.repeat(before)}${row(length)}b${row(2)}`;
      expect(composed(text(MARKS_IN_ROW_MAX))).toBe(text(MARKS_IN_ROW_MAX).normalize('NFC'));
      normalize.mockClear();
      expect(composed(text(MARKS_IN_ROW_MAX + 1))).toBeUndefined();
      // Which would take the square of their number.
      expect(normalize).not.toHaveBeenCalled();
    },
  );

  it('leaves words of all languages', () => {
    for (const words of ['Việt Nam', 'שָׁלוֹם', 'بِسْمِ ٱللَّٰهِ', 'हिन्दी क्षत्रिय', 'ที่นี่', 'བོད་སྐད', '👩🏽‍🚀❤️', 'ｶﾞｷﾞ'])
      expect(composed(words.normalize('NFD'))).toBe(words.normalize('NFC'));
  });
});

describe('the length of a text', () => {
  it('is not refused for what composing would make shorter', () => {
    for (let codePoint = 0xc0; codePoint < 0x30000; codePoint++) {
      if (codePoint >= 0xd800 && codePoint < 0xe000) continue;
      const character = String.fromCodePoint(codePoint);
      if (isLongerThan(1, character.normalize('NFD'))) throw new Error(`U+${codePoint.toString(16)}`);
    }
    expect(isLongerThan(1, 'a'.repeat(9))).toBe(true);
  });
});

describe('a plain text', () => {
  const asUnicodeSays = (text: string) => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();

  it('has no case and no accents', () => {
    expect(plain('Prénom')).toBe('prenom');
    expect(plain('ｶﾞ')).toBe(plain('ガ'));
    fc.assert(fc.property(anyText, (text) => expect(plain(text)).toBe(asUnicodeSays(text))));
  });

  it('is made of a text without rows of marks', () => {
    const normalize = jest.spyOn(String.prototype, 'normalize');
    expect(plain(`É${row(1_000)}\uff9e`)).toBe('e');
    expect(normalize.mock.contexts).toEqual(['É']);
    normalize.mockRestore();
  });
});
