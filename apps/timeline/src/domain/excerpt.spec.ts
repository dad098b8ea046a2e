import fc from 'fast-check';
import { EXCERPT_SOURCE_LENGTH, excerptOf, toOneLine } from './excerpt';

const pieces = fc.constantFrom(
  '@[',
  '](user:',
  ')',
  'ada',
  ' ',
  '\n',
  '\r\n',
  '\t',
  '😀',
  'é',
  '[',
  ']',
  '@[Ada](user:ada)',
);
const anyText = fc.oneof(
  fc.string({ unit: pieces, maxLength: 400 }),
  fc.string({ unit: 'grapheme', maxLength: EXCERPT_SOURCE_LENGTH }),
);

describe('an excerpt', () => {
  it('is one line of at most 200 whole characters, the first ones of the text', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const line = toOneLine(text);
        expect([...line].length).toBeLessThanOrEqual(200);
        expect(line).not.toMatch(/[\n\r\t]/);
        expect(line.isWellFormed()).toBe(text.isWellFormed() || line.isWellFormed());
        const whole = text.replace(/\s+/g, ' ').trim();
        expect(line === whole || (line.endsWith('…') && whole.startsWith(line.slice(0, -1)))).toBe(true);
      }),
    );
  });

  it('shows nothing that an author typed as the name of somebody', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[^[\]\n]{1,50}$/), (typed) => {
        const text = `Ask @[${typed}](user:ada).`;
        expect(excerptOf(text, new Map([['ada', 'Ada Lovelace']]))).toBe('Ask @Ada Lovelace.');
        expect(excerptOf(text, new Map())).toBe('Ask @ada.');
      }),
    );
  });
});
