import { timingSafeEqual } from 'node:crypto';
import { hmacSha256 } from '@plinth/kernel/hmac';
import { headers, type MsgHdrs } from '@nats-io/transport-node';

/** The header of a message that says that a process of the platform wrote it, for this subject. */
const SIGNATURE_HEADER = 'Plinth-Signature';

/** A message as it was received. */
interface ReceivedMessage {
  subject: string;
  data: Uint8Array;
  headers?: MsgHdrs | undefined;
}

/** The headers of a message on a subject. The first key signs; every key verifies, so that keys can be rotated. */
export function signMessage(subject: string, body: string, keys: readonly string[]): MsgHdrs {
  const signed = headers();
  signed.set(SIGNATURE_HEADER, mac(subject, body, keys[0]!).toString('base64url'));
  return signed;
}

/** Whether a process that has one of the keys wrote this message, for the subject on which it came. */
export function isGenuine({ subject, data, headers }: ReceivedMessage, keys: readonly string[]): boolean {
  const signature = Buffer.from(headers?.get(SIGNATURE_HEADER) ?? '', 'base64url');
  return keys.some((key) => {
    const expected = mac(subject, data, key);
    return signature.length === expected.length && timingSafeEqual(signature, expected);
  });
}

const mac = (subject: string, body: string | Uint8Array, key: string): Buffer =>
  hmacSha256(key, subject, '\n', body);
