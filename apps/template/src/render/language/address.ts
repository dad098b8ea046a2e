import { parseFragment } from 'parse5';

/** Written in place of an address that could run code. */
export const BLOCKED_ADDRESS = '#blocked';

/** Attributes that hold an address, and what separates the addresses of those that hold several. */
const addressAttributes = new Map<string, RegExp | undefined>([
  ['href', undefined],
  ['src', undefined],
  ['action', undefined],
  ['formaction', undefined],
  ['xlink:href', undefined],
  ['poster', undefined],
  ['cite', undefined],
  ['background', undefined],
  ['data', undefined],
  ['manifest', undefined],
  ['longdesc', undefined],
  ['codebase', undefined],
  ['from', undefined],
  ['to', undefined],
  ['by', undefined],
  ['values', /;/],
  ['srcset', /[\s,]+/],
  ['imagesrcset', /[\s,]+/],
  ['ping', /\s+/],
]);

/** Elements that show an image and nothing else of what their address leads to. */
const imageElements = new Set([
  'img',
  'image',
  'feimage',
  'source',
  'video',
  'input',
  'body',
  'table',
  'td',
  'th',
]);

/** Elements whose address decides which code runs, or where all other addresses lead. */
const codeElements = new Set(['script', 'object', 'embed', 'base', 'link']);

export const isAddress = (element: string, attribute: string): boolean =>
  addressAttributes.has(attribute) || (element === 'meta' && attribute === 'content');

/** The value of an attribute as a browser reads it. */
export function decodeAttribute(written: string): string {
  if (!/[&\r\0]/.test(written)) return written;
  const [element] = parseFragment(`<p a="${written.replaceAll('"', '&quot;')}">`).childNodes;
  return element && 'attrs' in element ? (element.attrs[0]?.value ?? '') : '';
}

/**
 * Whether the value of an attribute, into which data was written, runs no code: every address in it is relative or of
 * a scheme that is known to be harmless. Where the address decides which code runs, its host is not from the data.
 *
 * @param prefix what the template itself wrote before the first data
 */
export function isSafeAddress(element: string, attribute: string, written: string, prefix: string): boolean {
  const value = decodeAttribute(written);
  if (element === 'meta' && attribute === 'content') return isSafeRefresh(value);
  if (codeElements.has(element) && !isOnOwnHost(value, decodeAttribute(prefix))) return false;
  const separator = addressAttributes.get(attribute);
  const addresses = separator ? value.split(separator) : [value];
  return addresses.every((address) => hasSafeScheme(address, imageElements.has(element)));
}

export function hasSafeScheme(address: string, isImage: boolean): boolean {
  // A browser removes line breaks and tabs from an address, and blanks around it.
  const visible = address.replace(/[\p{Cc}\p{Cf}]/gu, '').trimStart();
  const [, scheme] = /^([^\s/?#:]*)\s*:/.exec(visible) ?? [];
  if (scheme === undefined || /^(https?|mailto|tel|sms|cid)$/i.test(scheme)) return true;
  return isImage && /^data:image\/(png|jpe?g|gif|webp|avif|bmp|svg\+xml|x-icon)\s*(;|,|$)/i.test(visible);
}

const isSafeRefresh = (content: string): boolean => {
  const [, address] = /^[\s\p{Cc}]*[\d.]+[\s;,]+(?:url\s*=\s*)?["']?(.*)$/isu.exec(content) ?? [];
  return address === undefined || hasSafeScheme(address, false);
};

/** Whether the host of an address is the page's, or was written by the template. */
function isOnOwnHost(address: string, prefix: string): boolean {
  if (/^\s*(https?:)?\/\/[^/?#\\]+[/?#]/i.test(prefix)) return true;
  const visible = address.replace(/[\p{Cc}\p{Cf}\s]/gu, '');
  return !/^([^/?#]*:|[/\\]{2})/.test(visible);
}
