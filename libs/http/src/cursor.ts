import { timingSafeEqual } from 'node:crypto';
import { hmacSha256 } from '@plinth/kernel/hmac';
import { malformed } from '@plinth/kernel/problem';

/** The sort values of the last row of a page, its id last. */
export type CursorKey = (string | number | boolean | null)[];

const MAC_BYTES = 16;

/**
 * Makes the opaque cursor of the position after a row. It is signed together with its context (tenant, list, sort), so a
 * changed cursor, or one of another list, is refused. The first key signs.
 */
export function signCursor(key: CursorKey, context: string, keys: readonly string[]): string {
  const payload = Buffer.from(JSON.stringify(key));
  return Buffer.concat([mac(payload, context, keys[0]!), payload]).toString('base64url');
}

/** Reads a cursor. @throws Problem `malformed` when it was not made by this platform for this list. */
export function verifyCursor(cursor: string, context: string, keys: readonly string[]): CursorKey {
  const bytes = Buffer.from(cursor, 'base64url');
  const payload = bytes.subarray(MAC_BYTES);
  const given = bytes.subarray(0, MAC_BYTES);
  const isExact = bytes.toString('base64url') === cursor && given.length === MAC_BYTES;
  if (!isExact || !keys.some((key) => timingSafeEqual(given, mac(payload, context, key)))) {
    throw malformed('The cursor was not made for this list; start again without a cursor.');
  }
  return JSON.parse(payload.toString()) as CursorKey;
}

const mac = (payload: Buffer, context: string, key: string): Buffer =>
  hmacSha256(key, context, '\n', payload).subarray(0, MAC_BYTES);
