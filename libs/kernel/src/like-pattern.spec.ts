import fc from 'fast-check';
import { escapeLike } from './like-pattern';

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
