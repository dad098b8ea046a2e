import type { IncomingMessage } from 'node:http';
import { invalid, malformed, Problem } from '@plinth/kernel/problem';
import { findUnstorable } from '@plinth/kernel/text';
import type { ByteReservation } from '@plinth/runtime/process/byte-budget';
import { collectBody, JSON_BODY_BYTES_MAX, requireFittingLength } from './collect-body';

export const JSON_DEPTH_MAX = 64;

/**
 * Reads a whole JSON body, or undefined where there is none.
 * @param verify is given the bytes before they are parsed
 * @throws Problem: 413 too large, 503 the process holds too many bodies, 415 not JSON, 400 broken syntax or too
 * deep, 422 text that cannot be stored.
 */
export async function readJson(
  request: IncomingMessage,
  reservation?: ByteReservation,
  verify: (bytes: Buffer) => void = () => {},
): Promise<unknown> {
  requireFittingLength(request, JSON_BODY_BYTES_MAX);
  const bytes = await collectBody(request, { bytesMax: JSON_BODY_BYTES_MAX, reservation });
  const read = (): unknown => {
    verify(bytes);
    return parseBody(request, bytes);
  };
  return reservation ? reservation.inTurn(read) : read();
}

function parseBody(request: IncomingMessage, bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined;
  requireJsonType(request);
  if (isDeeperThan(bytes, JSON_DEPTH_MAX))
    throw malformed(`JSON may be nested at most ${JSON_DEPTH_MAX} levels deep.`);
  const text = decode(bytes);
  const value = parseJson(text);
  // In well-formed UTF-8 such a text can only be written with an escape.
  const unstorable = UNSTORABLE_ESCAPE.test(text) ? findUnstorable(value) : undefined;
  if (unstorable !== undefined)
    throw invalid({ [unstorable || 'body']: 'Format' }, 'A text contains NUL or half of a surrogate pair.');
  return value;
}

function requireJsonType(request: IncomingMessage): void {
  const [type = '', ...parameters] = (request.headers['content-type'] ?? '').toLowerCase().split(';');
  const charset = parameters
    .map((parameter) => parameter.trim())
    .find((parameter) => parameter.startsWith('charset='));
  const isJson = /^application\/(json|[\w.-]+\+json)$/.test(type.trim());
  const isUtf8 = charset === undefined || /^charset="?utf-?8"?$/.test(charset);
  const isPlain = ['', 'identity'].includes(request.headers['content-encoding'] ?? '');
  if (!isJson || !isUtf8 || !isPlain) {
    throw new Problem(
      'unsupported-media-type',
      'The body must be application/json in UTF-8, and not compressed.',
    );
  }
}

const UNSTORABLE_ESCAPE = /\\u(0000|d[89a-f])/i;

const utf8 = new TextDecoder('utf-8', { fatal: true });

function decode(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch (error) {
    throw notJson(error);
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw notJson(error);
  }
}

const notJson = (cause: unknown): Problem =>
  new Problem('malformed', 'The body is not valid JSON in UTF-8.', { cause });

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** A bracket or a brace: they differ in one bit. */
const OPENER = 0x7b;
const CLOSER = 0x7d;
const BRACE_BIT = 0x20;

/** Counts brackets outside of texts, before anything is made of the bytes. */
function isDeeperThan(bytes: Buffer, levels: number): boolean {
  let depth = 0;
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index]!;
    if (byte === QUOTE) index = endOfText(bytes, index + 1);
    else if ((byte | BRACE_BIT) === OPENER) {
      if (++depth > levels) return true;
    } else if ((byte | BRACE_BIT) === CLOSER) depth--;
  }
  return false;
}

/** Most texts end within so many bytes; finding the end of a longer one is left to the buffer. */
const NEAR_BYTES = 64;

/** The place of the quote that ends a text, or behind the last byte. */
function endOfText(bytes: Buffer, begin: number): number {
  let index = begin;
  while (index < bytes.length) {
    for (const far = Math.min(index + NEAR_BYTES, bytes.length); index < far; index++) {
      if (bytes[index] === QUOTE) return index;
      if (bytes[index] === BACKSLASH) index++;
    }
    const quote = bytes.indexOf(QUOTE, index);
    if (quote === -1) break;
    let escapes = 0;
    while (quote - escapes > index && bytes[quote - escapes - 1] === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return quote;
    index = quote + 1;
  }
  return bytes.length;
}
