import type { IncomingMessage } from 'node:http';
import { invalid, malformed, Problem } from '@plinth/kernel/problem';
import { findUnstorable } from '@plinth/kernel/text';
import type { ByteReservation } from './byte-budget';
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
  verify(bytes);
  if (bytes.length === 0) return undefined;
  requireJsonType(request);
  const value = parseJson(bytes);
  if (isDeeperThan(value, JSON_DEPTH_MAX))
    throw malformed(`JSON may be nested at most ${JSON_DEPTH_MAX} levels deep.`);
  const unstorable = findUnstorable(value);
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

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    throw new Problem('malformed', 'The body is not valid JSON in UTF-8.', { cause: error });
  }
}

function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isDeeperThan(member, levels - 1));
}
