import { parse, type DefaultTreeAdapterMap } from 'parse5';

type Node = DefaultTreeAdapterMap['node'];
type Element = DefaultTreeAdapterMap['element'];

const isElement = (node: Node): node is Element => 'tagName' in node;
const childrenOf = (node: Node): Node[] => ('childNodes' in node ? node.childNodes : []);
const attributeOf = (element: Element, name: string): string | undefined =>
  element.attrs.find((attribute) => attribute.name === name)?.value;

const unseen = new Set([
  'head',
  'script',
  'style',
  'template',
  'noscript',
  'iframe',
  'object',
  'svg',
  'math',
  'select',
  'textarea',
]);
const paragraphs = new Set([
  'p',
  'h1',
  'h2',
  'h3',
  'h4',
  'h5',
  'h6',
  'ul',
  'ol',
  'dl',
  'table',
  'blockquote',
  'pre',
  'figure',
  'hr',
]);
const lines = new Set([
  'div',
  'section',
  'article',
  'header',
  'footer',
  'main',
  'nav',
  'aside',
  'address',
  'form',
  'fieldset',
  'li',
  'dt',
  'dd',
  'tr',
  'caption',
  'figcaption',
  'thead',
  'tbody',
  'tfoot',
  'body',
  'html',
  'center',
]);

/** What a reader without pictures and colours sees of a page. */
export function plainTextOf(html: string): string {
  const out: string[] = [];
  const write = (node: Node, isPreformatted: boolean): void => {
    if (node.nodeName === '#text' && 'value' in node) {
      out.push(isPreformatted ? preformatted(node.value) : node.value.replace(/[ \t\r\n\f]+/g, ' '));
      return;
    }
    if (!isElement(node)) return childrenOf(node).forEach((child) => write(child, isPreformatted));
    const { tagName } = node;
    if (unseen.has(tagName)) return;
    if (tagName === 'br') out.push('\u0001');
    else if (tagName === 'img') out.push(attributeOf(node, 'alt') ?? '');
    const edge = paragraphs.has(tagName) ? '\u0002' : lines.has(tagName) ? '\u0003' : '';
    out.push(edge, tagName === 'li' ? '- ' : '');
    childrenOf(node).forEach((child) => write(child, isPreformatted || tagName === 'pre'));
    if (tagName === 'td' || tagName === 'th') out.push('\t');
    out.push(addressOf(node), edge);
  };
  write(parse(html) as Node, false);
  return tidy(out.join(''));
}

/** Blanks and line breaks that count. */
const preformatted = (text: string): string => text.replace(/\n/g, '\u0001').replace(/ /g, '\u0004');

/** A link reads as its text and, where that does not tell, its address. */
function addressOf(element: Element): string {
  const href = element.tagName === 'a' ? attributeOf(element, 'href') : undefined;
  if (!href || !/^(https?:|mailto:|tel:)/i.test(href)) return '';
  const text = textOf(element).trim();
  return href.replace(/^(mailto|tel):/i, '') === text || href === text ? '' : ` (${href})`;
}

/** Edges become as few line breaks as they ask for: \u0002 an empty line, \u0003 a new line, \u0001 a break as written. */
const tidy = (text: string): string =>
  text
    .replace(/[ \t]*([\u0001-\u0003])[ \t]*/g, '$1')
    .replace(/[\u0002\u0003]+/g, (edges) => (edges.includes('\u0002') ? '\n\n' : '\n'))
    .replace(/\u0001/g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .replace(/ {2,}/g, ' ')
    .replace(/ ?\t ?/g, '\t')
    .replace(/\u0004/g, ' ')
    .trim();

function textOf(node: Node): string {
  if (node.nodeName === '#text' && 'value' in node) return node.value;
  if (isElement(node) && node.tagName === 'br') return '\n';
  if (isElement(node) && ['script', 'style', 'template'].includes(node.tagName)) return '';
  return childrenOf(node).map(textOf).join('');
}

export interface Cell {
  text: string;
  type: string | undefined;
  /** The value as a machine reads it, where the text is for people. */
  value: string | undefined;
  /** Number format of the spreadsheet. */
  format: string | undefined;
  isHeader: boolean;
  columns: number;
  rows: number;
  align: string | undefined;
}

export interface Table {
  name: string | undefined;
  rows: Cell[][];
}

/** The tables of a page, outermost ones only. */
export function tablesOf(html: string): Table[] {
  return outermost(parse(html) as Node, 'table').map((table) => ({
    name: attributeOf(table, 'data-sheet') ?? captionOf(table),
    rows: rowsOf(table).map((row) =>
      childrenOf(row)
        .filter(isElement)
        .filter(({ tagName }) => tagName === 'td' || tagName === 'th')
        .map(cellOf),
    ),
  }));
}

function outermost(node: Node, tagName: string): Element[] {
  if (isElement(node) && node.tagName === tagName) return [node];
  return childrenOf(node).flatMap((child) => outermost(child, tagName));
}

const rowsOf = (table: Element): Element[] =>
  childrenOf(table)
    .filter(isElement)
    .flatMap((child) =>
      child.tagName === 'tr'
        ? [child]
        : ['thead', 'tbody', 'tfoot'].includes(child.tagName)
          ? rowsOf(child)
          : [],
    );

const captionOf = (table: Element): string | undefined => {
  const caption = childrenOf(table)
    .filter(isElement)
    .find(({ tagName }) => tagName === 'caption');
  return caption && textOf(caption).trim();
};

function cellOf(cell: Element): Cell {
  const span = (name: string): number =>
    Math.min(Math.max(Number.parseInt(attributeOf(cell, name) ?? '1', 10) || 1, 1), 1_000);
  return {
    text: textOf(cell)
      .replace(/[ \t\r\f]+/g, ' ')
      .replace(/ ?\n ?/g, '\n')
      .trim(),
    type: attributeOf(cell, 'data-type'),
    value: attributeOf(cell, 'data-value'),
    format: attributeOf(cell, 'data-format'),
    isHeader: cell.tagName === 'th',
    columns: span('colspan'),
    rows: span('rowspan'),
    align:
      attributeOf(cell, 'align') ??
      /text-align:\s*(left|right|center)/i.exec(attributeOf(cell, 'style') ?? '')?.[1],
  };
}
