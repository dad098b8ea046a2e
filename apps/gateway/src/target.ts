import { malformed } from '@plinth/kernel/problem';

/** A request target that every reader understands in the same way. */
export interface Target {
  /** Still percent-encoded, and free of everything that two parsers could resolve differently. */
  path: string;
  /** Without the question mark; empty when there is none. */
  query: string;
}

const VISIBLE_ASCII = /^[\x21-\x7e]+$/;
/** What a path may hold unencoded. `;` is refused because other servers read parameters there. */
const PLAIN_PATH = /^(?:\/[A-Za-z0-9\-._~!$&'()*+,=:@%]*)+$/;
const SUSPICIOUS = /\/\/|%|\/\.{1,2}(?:\/|$)/;

/**
 * Reads the target of a request line.
 * @throws Problem `malformed` for what is not canonical: other forms than a path, empty and dot segments (also
 * percent-encoded ones), backslashes, broken percent-encoding, bytes that are not UTF-8, NUL.
 */
export function parseTarget(url: string): Target {
  if (!VISIBLE_ASCII.test(url) || url.includes('#'))
    throw malformed('The address contains characters that must be percent-encoded.');
  const mark = url.indexOf('?');
  const path = mark < 0 ? url : url.slice(0, mark);
  if (!PLAIN_PATH.test(path)) throw notCanonical();
  if (SUSPICIOUS.test(path)) checkSegments(path);
  return { path, query: mark < 0 ? '' : url.slice(mark + 1) };
}

function checkSegments(path: string): void {
  const segments = path.split('/').slice(1);
  for (const [index, segment] of segments.entries()) {
    if (segment === '' && index < segments.length - 1) throw notCanonical();
    const parts = decodeSegment(segment).split(/[/\\]/);
    if (parts.some((part) => part === '.' || part === '..')) throw notCanonical();
  }
}

/**
 * Decodes one path segment.
 * @throws Problem `malformed` for broken percent-encoding, bytes that are not UTF-8, and NUL.
 */
export function decodeSegment(segment: string): string {
  const decoded = segment.includes('%') ? decodeOrUndefined(segment) : segment;
  if (decoded === undefined) throw malformed('The path is not correctly percent-encoded.');
  if (decoded.includes('\0')) throw malformed('The path contains a NUL character.');
  return decoded;
}

function decodeOrUndefined(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

const notCanonical = () =>
  malformed(
    'The path is not canonical: write it without empty segments, dot segments, backslashes and semicolons.',
  );

/** All values of a query parameter, decoded; a value that cannot be decoded is returned unchanged. */
export function queryValues(query: string, name: string): string[] {
  if (!query.includes(name)) return [];
  return query
    .split('&')
    .map((pair) => pair.split(/=(.*)/s, 2))
    .filter(([key]) => decodeText(key!) === name)
    .map(([, value = '']) => decodeText(value));
}

/** The query without a parameter, everything else byte for byte. */
export function withoutParameter(query: string, name: string): string {
  if (!query.includes(name)) return query;
  return query
    .split('&')
    .filter((pair) => decodeText(pair.split('=', 1)[0]!) !== name)
    .join('&');
}

const decodeText = (text: string): string => decodeOrUndefined(text.replaceAll('+', ' ')) ?? text;
