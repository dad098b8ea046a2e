import fc from 'fast-check';
import { columnLetters, escapeXml, textXml } from './cell-xml';

const awkward = fc.string({
  unit: fc.constantFrom(
    '_x000D_',
    '_x',
    '_',
    '005F_',
    '\r',
    '\n',
    '\0',
    '\ufffe',
    '&',
    '<',
    '"',
    '&amp;',
    '😀',
    'a',
  ),
});
const anyText = fc.oneof(awkward, fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' }));

const ENTITIES: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"' };

/** What a spreadsheet reads of the XML of a text. */
const read = (xml: string): string =>
  xml
    .replace(/&(amp|lt|gt|quot);/g, (entity) => ENTITIES[entity]!)
    .replace(/_x([\da-f]{4})_/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));

describe('a text in the XML of a workbook', () => {
  it('is read as it was', () => {
    fc.assert(fc.property(anyText, (text) => expect(read(escapeXml(text))).toBe(text)));
  });

  it('has no character that XML cannot contain, and no markup', () => {
    fc.assert(
      fc.property(anyText, (text) =>
        expect(escapeXml(text)).not.toMatch(/[\0-\x08\x0b-\x1f\ufffe\uffff<>"]/),
      ),
    );
  });

  it('is cut where a cell is full, between characters', () => {
    const [, shown] = /<t>(.*)<\/t>/.exec(textXml('A1', `x${'😀'.repeat(20_000)}`))!;
    expect(shown === `x${'😀'.repeat(16_383)}`).toBe(true);
    const [, odd] = /<t>(.*)<\/t>/.exec(textXml('A1', '😀'.repeat(20_000)))!;
    expect(odd === '😀'.repeat(16_383)).toBe(true);
  });
});

describe('the letters of columns', () => {
  it('are those of the next column after those of the one before', () => {
    const numberOf = (letters: string): number =>
      [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;
    fc.assert(fc.property(fc.nat(20_000), (index) => expect(numberOf(columnLetters(index))).toBe(index)));
    expect([0, 25, 26, 701, 702, 16_383].map(columnLetters)).toEqual(['A', 'Z', 'AA', 'ZZ', 'AAA', 'XFD']);
  });
});
