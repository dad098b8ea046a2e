import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { type Caller } from '@plinth/kernel/caller';
import type { ShareOwner } from '@plinth/kernel/fair-shares';
import { hmacSha256 } from '@plinth/kernel/hmac';
import { Problem } from '@plinth/kernel/problem';
import { UsedSignatures } from './used-signatures';

/** The one header that carries an identity between the platform's own processes. */
export const CALLER_HEADER = 'x-plinth-caller';

const VALID_FOR_SECONDS = 60;

/** A caller bound to one request, so that a captured header is worth nothing elsewhere. */
export interface CallerClaims {
  caller: Caller | null;
  /** The tenant the request is about; for an anonymous one the gateway chose it from the query or the host name. */
  tenantId: string;
  /** Of an anonymous caller: the network that the request comes from, which has shares of its own like a user. */
  network?: string | undefined;
  /** Method and path with its query, as the receiver sees them. */
  method: string;
  path: string;
  /** Of the body, where the signer held all of it. */
  bodyHash?: string | undefined;
  /** The path as the client wrote it, for `instance` of a problem. */
  instance: string;
  /** Seconds since 1970. */
  expiresAt: number;
  /** Differs from that of every other request. */
  id: string;
}

/** Signatures that this process has accepted, so that none is accepted twice. */
const used = new UsedSignatures(VALID_FOR_SECONDS);

const idPrefix = randomBytes(6).toString('base64url');
let signed = 0;

/**
 * Signs a caller for one request to a service, valid once and for a minute. A null caller is an anonymous one.
 * The first key signs; every key verifies, so that keys can be rotated.
 */
export function signCaller(
  { caller, ...request }: Omit<CallerClaims, 'expiresAt' | 'id'>,
  keys: readonly string[],
  now: Date = new Date(),
): string {
  const expiresAt = Math.floor(now.getTime() / 1000) + VALID_FOR_SECONDS;
  const payload = `${encodedCaller(caller)}.${encode({ ...request, expiresAt, id: `${idPrefix}${signed++}` })}`;
  return `${payload}.${hmacSha256(keys[0]!, payload).toString('base64url')}`;
}

/**
 * Reads a signed caller.
 * @throws Problem `unauthenticated` when it is absent, forged, expired, used before, or was made for another request.
 */
export function verifyCaller(
  header: string | undefined,
  request: { method: string; path: string },
  keys: readonly string[],
  now: Date = new Date(),
): CallerClaims {
  const [callerPart = '', requestPart = '', signature = '', ...rest] = (header ?? '').split('.');
  const given = Buffer.from(signature, 'base64url');
  const payload = `${callerPart}.${requestPart}`;
  const genuine = rest.length === 0 && keys.some((key) => equal(given, hmacSha256(key, payload)));
  if (!genuine) throw notFromTheGateway();
  const claims = { caller: decode(callerPart), ...(decode(requestPart) as object) } as CallerClaims;
  const meantForThis = claims.method === request.method && claims.path === request.path;
  if (!meantForThis || claims.expiresAt < now.getTime() / 1000) throw notFromTheGateway();
  if (!used.add(given, now)) throw notFromTheGateway();
  return claims;
}

/** Whose share a request uses, as a header says that nobody has verified yet; undefined where it says nothing. */
export function ownerIn(header: string | undefined): ShareOwner | undefined {
  try {
    const caller = decode((header ?? '').split('.', 1)[0]!) as Caller | null;
    return caller ? { tenantId: String(caller.tenantId), userId: String(caller.userId) } : undefined;
  } catch {
    return undefined;
  }
}

/** What `bodyHash` says of a body. */
export const hashOf = (body: Uint8Array): string => hash('sha256', body, 'base64url');

/**
 * Checks a body against the hash that was signed with the caller, where there is one.
 * @throws Problem `unauthenticated` for another body.
 */
export function verifyBody({ bodyHash }: CallerClaims, body: Uint8Array): void {
  if (bodyHash !== undefined && bodyHash !== hashOf(body)) throw notFromTheGateway();
}

/** A caller asks many times and may hold many permissions, so that part of the header is written once. */
const encodedCallers = new WeakMap<Caller, string>();

function encodedCaller(caller: Caller | null): string {
  if (!caller) return encode(null);
  let encoded = encodedCallers.get(caller);
  if (encoded === undefined) encodedCallers.set(caller, (encoded = encode(caller)));
  return encoded;
}

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const decode = (text: string): unknown => JSON.parse(Buffer.from(text, 'base64url').toString());

const equal = (left: Buffer, right: Buffer): boolean =>
  left.length === right.length && timingSafeEqual(left, right);

const notFromTheGateway = (): Problem =>
  new Problem('unauthenticated', 'This address serves only requests that came through the gateway.');
