import fc from 'fast-check';
import { parseFragment, type DefaultTreeAdapterMap } from 'parse5';
import { escapeHtml } from './html';

type Element = DefaultTreeAdapterMap['element'];

describe('a text in a page', () => {
  it('is read as it was, in an element and in an attribute, and is no markup', () => {
    const awkward = fc.string({
      unit: fc.constantFrom('&', 'amp;', '#39;', '<', '>', '"', "'", '</p>', '<!--', 'a'),
    });
    // Parsers of HTML replace NUL and carriage returns wherever they stand.
    const text = fc.oneof(awkward, fc.string({ unit: 'grapheme' })).filter((one) => !/[\0\r]/.test(one));
    fc.assert(
      fc.property(text, (written) => {
        const { childNodes } = parseFragment(
          `<p title="${escapeHtml(written)}" lang='${escapeHtml(written)}'>${escapeHtml(written)}</p>`,
        );
        expect(childNodes).toHaveLength(1);
        const { attrs, childNodes: inner } = childNodes[0] as Element;
        expect(attrs.map(({ value }) => value)).toEqual([written, written]);
        expect(inner.map((node) => ('value' in node ? node.value : node.nodeName)).join('')).toBe(written);
      }),
    );
  });
});
