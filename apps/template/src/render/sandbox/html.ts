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

/** An edge of an element that wants an empty line there. */
const PARAGRAPH = '\u0001';
/** An edge of an element that wants a new line there. */
const LINE = '\u0002';
/** A line break as written. */
const BREAK = '\u0003';
/** A blank as written. */
const BLANK = '\u0004';
/** The end of a cell. */
const CELL = '\u0005';

/** What a reader without pictures and colours sees of a page. */
export function plainTextOf(html: string): string {
  const write = (node: Node, isPreformatted: boolean): string => {
    if (node.nodeName === '#text' && 'value' in node)
      return isPreformatted ? preformatted(node.value) : node.value;
    if (!isElement(node)) return writeChildren(node, isPreformatted);
    const { tagName } = node;
    if (unseen.has(tagName)) return '';
    if (tagName === 'br') return BREAK;
    if (tagName === 'img') return attributeOf(node, 'alt') ?? '';
    const edge = paragraphs.has(tagName) ? PARAGRAPH : lines.has(tagName) ? LINE : '';
    const bullet = tagName === 'li' ? '- ' : '';
    const inside = writeChildren(node, isPreformatted || tagName === 'pre');
    const end = tagName === 'td' || tagName === 'th' ? CELL : tagName === 'a' ? addressOf(node) : '';
    return edge + bullet + inside + end + edge;
  };
  const writeChildren = (node: Node, isPreformatted: boolean): string => {
    let text = '';
    for (const child of childrenOf(node)) text += write(child, isPreformatted);
    return text;
  };
  return tidy(write(parse(html) as Node, false));
}

const preformatted = (text: string): string => text.replaceAll('\n', BREAK).replaceAll(' ', BLANK);

/** A link reads as its text and, where the text does not contain it, its address. */
function addressOf(link: Element): string {
  const href = attributeOf(link, 'href');
  if (!href || !/^(https?:|mailto:|tel:)/i.test(href)) return '';
  const text = textOf(link).trim();
  return href.replace(/^(mailto|tel):/i, '') === text || href === text ? '' : ` (${href})`;
}

/** Turns what was written, with its marks, into text. Edges that meet take as few line breaks as they ask for. */
const tidy = (text: string): string =>
  text
    // In two steps, since nearly all blanks stand alone and need no replacement.
    .replace(/[\t\r\n\f]+/g, ' ')
    .replace(/ {2,}/g, ' ')
    .replace(/[ \u0001-\u0003\u0005]{2,}|[\u0001-\u0003]/g, lineBreaks)
    .replace(/ ?\u0005 ?/g, '\t')
    .replaceAll(BLANK, ' ')
    .trim();

/** What blanks, ends of cells and marks beside each other are in a text; only marks break lines. */
function lineBreaks(marks: string): string {
  if (!/[\u0001-\u0003]/.test(marks)) return marks;
  if (!marks.includes(BREAK)) return marks.includes(PARAGRAPH) ? '\n\n' : '\n';
  return marks
    .replace(/[ \u0005]/g, '')
    .replace(/[\u0001\u0002]+/g, (edges) => (edges.includes(PARAGRAPH) ? '\n\n' : '\n'))
    .replaceAll(BREAK, '\n')
    .replace(/\n{3,}/g, '\n\n');
}

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
