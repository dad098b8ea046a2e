import {
  defaultTreeAdapter,
  html as names,
  parseFragment,
  serialize,
  type DefaultTreeAdapterMap,
} from 'parse5';
import { LimitError } from '../language/meter';

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

/** Each page has its own copy of header and footer. */
const BAND_BYTES_MAX = 256 * 1024;

/** What stands for the numbers of the printed page and of all pages, by the class of the element that Chromium fills. */
const pageNumbers: Record<string, string> = { '{page}': 'pageNumber', '{pages}': 'totalPages' };
const PAGE_NUMBER = /(\{pages?\})/;

/**
 * The header or footer of printed pages, made anew from what a band needs: text, its formatting, tables, bitmaps, and
 * `{page}` and `{pages}`. What Chromium does with other markup of a band it does with its own settings, whatever those of
 * the document are, so nothing else is passed on.
 * @throws LimitError where it is larger than a band may be
 */
export function printedBand(html: string): string {
  if (html.length > BAND_BYTES_MAX) throw new LimitError('band');
  const fragment = parseFragment(html);
  fragment.childNodes = fragment.childNodes.flatMap(allowed);
  const band = serialize(fragment);
  if (Buffer.byteLength(band) > BAND_BYTES_MAX) throw new LimitError('band');
  return band;
}

/** A node as far as it is allowed: of other elements, what is inside of them. */
function allowed(node: Node): Node[] {
  if (defaultTreeAdapter.isTextNode(node)) return withPageNumbers(node.value);
  if (!defaultTreeAdapter.isElementNode(node) || silent.has(node.tagName)) return [];
  const inside = node.childNodes.flatMap(allowed);
  if (!elements.has(node.tagName)) return inside;
  const copy = defaultTreeAdapter.createElement(node.tagName, node.namespaceURI, attributesOf(node));
  copy.childNodes = inside;
  return [copy];
}

/** Elements, not text that others replace: in what is serialized a value could pass for a text, and a text for a value. */
const withPageNumbers = (text: string): Node[] =>
  text.split(PAGE_NUMBER).map((part) => {
    const className = pageNumbers[part];
    return className === undefined
      ? defaultTreeAdapter.createTextNode(part)
      : defaultTreeAdapter.createElement('span', names.NS.HTML, [{ name: 'class', value: className }]);
  });

const attributesOf = ({ tagName, attrs }: Element): Element['attrs'] =>
  attrs.filter(({ name, value }) => {
    // PDF renderers of versions before replace it by an element there, too.
    if (PAGE_NUMBER.test(value)) return false;
    if (name === 'src') return tagName === 'img' && BITMAP.test(value);
    // A backslash would hide the name of a function.
    return attributes.has(name) && (name !== 'style' || !/[\\@<]|url|image|expression/i.test(value));
  });
