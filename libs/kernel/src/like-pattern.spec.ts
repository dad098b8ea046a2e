import fc from 'fast-check';
import { escapeLike, repetitionsOf } from './like-pattern';

const awkward = fc.stringMatching(/^[\\%_ab.*]{0,8}$/);
const anyText = fc.oneof(awkward, fc.string({ unit: 'binary' }));

/** Whether a text is like a pattern, as SQL has it. */
function isLike(text: string, pattern: string): boolean {
  const meaning = pattern.replace(/\\([^])|[^]/g, (part, literal: string | undefined) => {
    if (literal === undefined && part === '%') return '[^]*';
    if (literal === undefined && part === '_') return '[^]';
    return `\\u${(literal ?? part).charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
  return new RegExp(`^${meaning}$`).test(text);
}

describe('an escaped LIKE pattern', () => {
  it('matches its text, and nothing else', () => {
    fc.assert(
      fc.property(anyText, anyText, (text, other) => {
        expect(isLike(text, escapeLike(text))).toBe(true);
        expect(isLike(other, escapeLike(text))).toBe(other === text);
      }),
    );
  });

  it('matches within other texts where it stands between wildcards', () => {
    fc.assert(
      fc.property(anyText, anyText, (text, other) => {
        expect(isLike(other, `%${escapeLike(text)}%`)).toBe(other.includes(text));
      }),
    );
  });
});

describe('how often a text repeats its beginning', () => {
  it.each([
    ['', 0],
    ['a', 1],
    ['abcd', 1],
    ['banana', 1],
    ['abcab', 2],
    ['aaaaa', 5],
    ['ababab', 3],
    ['baaaaa', 1],
    ['00000000-0000-0000-0000-000000000000', 9],
  ])('%j: %i', (text, repetitions) => {
    expect(repetitionsOf(text)).toBe(repetitions);
  });

  it('bounds how many characters are compared for each of those that it is looked for in', () => {
    const words = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 40 });
    fc.assert(
      fc.property(words, words, (text, other) => {
        let compared = 0;
        for (let start = 0; start < other.length; start++)
          for (let index = 0; index < text.length && start + index < other.length; index++) {
            compared++;
            if (other[start + index] !== text[index]) break;
          }
        // One more for each place: the first character that differs.
        expect(compared).toBeLessThanOrEqual(other.length * (repetitionsOf(text) + 1));
      }),
    );
  });
});
