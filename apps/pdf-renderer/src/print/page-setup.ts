import type { PDFOptions } from 'puppeteer-core';
import type { Page__Output } from '@plinth/proto/generated/plinth/pdf/v1/Page';

/** Width and height in inches. */
const papers: Record<string, [number, number]> = {
  a3: [11.69, 16.54],
  a4: [8.27, 11.69],
  a5: [5.83, 8.27],
  a6: [4.13, 5.83],
  letter: [8.5, 11],
  legal: [8.5, 14],
  tabloid: [11, 17],
};

const inches: Record<string, number> = { mm: 1 / 25.4, cm: 1 / 2.54, in: 1, px: 1 / 96, pt: 1 / 72 };
const PAGE_INCHES_MAX = 200;

/** `20mm` as inches. */
function lengthOf(text: string): number | undefined {
  const [, number, unit] = /^(\d{1,5}(?:\.\d{1,4})?)(mm|cm|in|px|pt)?$/i.exec(text) ?? [];
  if (number === undefined) return undefined;
  return Math.min(Number(number) * inches[(unit ?? 'px').toLowerCase()]!, PAGE_INCHES_MAX);
}

const inchesOf = (length: number): string => `${length.toFixed(4)}in`;

/** `A4 landscape` or `210mm 297mm`; A4 where it says neither. */
function sizeOf(page: string): { width: string; height: string } {
  const words = page
    .toLowerCase()
    .split(/[\s,x]+/)
    .filter((word) => word !== '');
  const lengths = words.map(lengthOf).filter((length) => length !== undefined && length >= 0.5);
  const named = words.map((word) => papers[word]).find((paper) => paper !== undefined);
  const [width, height] = lengths.length >= 2 ? [lengths[0]!, lengths[1]!] : (named ?? papers['a4']!);
  return words.includes('landscape')
    ? { width: inchesOf(height), height: inchesOf(width) }
    : { width: inchesOf(width), height: inchesOf(height) };
}

/** One to four lengths in the order of CSS: top, right, bottom, left. */
function marginOf(margin: string | undefined): Record<'top' | 'right' | 'bottom' | 'left', string> {
  const lengths = (margin ?? '')
    .split(/[\s,]+/)
    .map(lengthOf)
    .filter((length) => length !== undefined);
  const [top = 0.6, right = top, bottom = top, left = right] = lengths;
  return { top: inchesOf(top), right: inchesOf(right), bottom: inchesOf(bottom), left: inchesOf(left) };
}

const style = 'font: 8pt sans-serif; color: #555; width: 100%; margin: 0 15mm;';

/** A tag, whose values may have anything but a double quote inside, or a number of a page in a text. */
const TAG_OR_PAGE_NUMBER = /<[^"<>]*(?:"[^"]*"[^"<>]*)*>|\{pages?\}/g;
const pageNumbers: Record<string, string> = {
  '{page}': '<span class="pageNumber"></span>',
  '{pages}': '<span class="totalPages"></span>',
};

/** Callers of versions before leave `{page}` and `{pages}` in the texts of a band to the renderer. */
const bandOf = (html: string | undefined): string =>
  html === undefined
    ? '<span></span>'
    : `<div style="${style}">${html.replace(TAG_OR_PAGE_NUMBER, (found) => pageNumbers[found] ?? found)}</div>`;

/** How the pages of a document look. */
export type PageSetup = Pick<Page__Output, 'size' | 'margin' | 'header' | 'footer'>;

/** How Chromium prints such pages. */
export function printOptionsOf({ size, margin, header, footer }: PageSetup): PDFOptions {
  const hasBands = header !== undefined || footer !== undefined;
  return {
    ...sizeOf(size ?? ''),
    margin: marginOf(margin ?? (hasBands ? '0.8in 0.6in' : undefined)),
    printBackground: true,
    preferCSSPageSize: size === undefined,
    displayHeaderFooter: hasBands,
    ...(hasBands ? { headerTemplate: bandOf(header), footerTemplate: bandOf(footer) } : {}),
  };
}
