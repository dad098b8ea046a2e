import { defaultTreeAdapter, parseFragment, serialize, type DefaultTreeAdapterMap } from 'parse5';

type Node = DefaultTreeAdapterMap['childNode'];
type Element = DefaultTreeAdapterMap['element'];

const elements = new Set(
  'a b br code div em font hr i img p s small span strong sub sup table tbody td tfoot th thead tr u'.split(
    ' ',
  ),
);
const attributes = new Set(
  'align class color colspan dir face height lang rowspan size style title valign width'.split(' '),
);
/** Elements whose content is no text either. */
const silent = new Set(
  'iframe math noembed noframes noscript object script style svg template title xmp'.split(' '),
);

const BITMAP = /^data:image\/(png|jpeg|gif|webp);base64,[a-z0-9+/=\s]+$/i;

/**
 * The header or footer of printed pages, made anew from what a band needs: text, its formatting, tables and bitmaps.
 * Chromium runs the scripts of bands even where those of the document are off, so nothing else is passed on.
 */
export function printedBand(html: string): string {
  const fragment = parseFragment(html);
  fragment.childNodes = fragment.childNodes.flatMap(allowed);
  return serialize(fragment);
}

/** A node as far as it is allowed: of other elements, what is inside of them. */
function allowed(node: Node): Node[] {
  if (defaultTreeAdapter.isTextNode(node)) return [node];
  if (!defaultTreeAdapter.isElementNode(node) || silent.has(node.tagName)) return [];
  const inside = node.childNodes.flatMap(allowed);
  if (!elements.has(node.tagName)) return inside;
  const copy = defaultTreeAdapter.createElement(node.tagName, node.namespaceURI, attributesOf(node));
  copy.childNodes = inside;
  return [copy];
}

const attributesOf = ({ tagName, attrs }: Element): Element['attrs'] =>
  attrs.filter(({ name, value }) => {
    if (name === 'src') return tagName === 'img' && BITMAP.test(value);
    // A backslash would hide the name of a function.
    return attributes.has(name) && (name !== 'style' || !/[\\@<]|url|image|expression/i.test(value));
  });
