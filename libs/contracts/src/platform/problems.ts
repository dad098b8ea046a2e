import type { ShareScope } from '@plinth/kernel/fair-shares';
import { defineProblems, type Problem } from '@plinth/kernel/problem';

/** The problems of every endpoint: those of the gateway, and those of the pipeline that all services share. */
export const platformProblems = defineProblems({
  'unknown-version': {
    kind: 'not-found',
    title: 'Unknown version',
    explanation:
      'The version in the path, or in the query parameter `api-version`, does not exist. The header `api-supported-versions` lists those that do.',
  },
  'invalid-credential': {
    kind: 'unauthenticated',
    title: 'Credential absent or not valid',
    explanation:
      'The request requires the header `Authorization: Bearer …` with a token that is signed by a trusted issuer, issued for this audience and not expired. Get a new token and repeat the request.',
  },
  'identity-provider-unavailable': {
    kind: 'upstream',
    title: 'Identity provider unavailable',
    explanation:
      'The keys of the identity provider cannot be fetched, so tokens cannot be verified. Your token may be valid; try again later.',
  },
  'permission-missing': {
    kind: 'forbidden',
    title: 'Permission missing',
    explanation:
      'None of your roles grants the permission that the detail names. Ask an administrator for it.',
  },
  'api-key-not-for-keys': {
    kind: 'forbidden',
    title: 'Not with an API key',
    explanation:
      'API keys and delegations are made by people, so that a key that was stolen makes nothing that outlives it. Sign in and repeat the request.',
  },
  'tenant-not-allowed': {
    kind: 'forbidden',
    title: 'Tenant not allowed',
    explanation: 'The request names a tenant that your token does not belong to.',
  },
  'unknown-tenant': {
    kind: 'not-found',
    title: 'Unknown tenant',
    explanation: 'The parameter `tenant` is neither the id nor the short name of a tenant.',
  },
  'too-many-requests': {
    kind: 'limited',
    title: 'Too many requests',
    explanation:
      'You, your tenant or your address sent more requests than its limit allows. Wait for the seconds in `Retry-After`. The headers `RateLimit-Policy` and `RateLimit` have the limits and what is left of them.',
  },
  'idempotency-key-missing': {
    kind: 'invalid',
    title: 'Idempotency key missing',
    explanation:
      'This endpoint is configured to require an idempotency key. Send a header with a value that is unique for the operation, such as a UUID.',
  },
  'idempotency-key-not-valid': {
    kind: 'invalid',
    title: 'Idempotency key not valid',
    explanation: 'An idempotency key is sent in a single header and has 1 to 255 visible ASCII characters.',
  },
  'idempotency-multipart': {
    kind: 'invalid',
    title: 'Multipart requests cannot be idempotent',
    explanation:
      'The boundaries of a multipart body differ in every attempt, so two of them cannot be compared. Send the request without an idempotency key.',
  },
  'idempotency-payload-mismatch': {
    kind: 'invalid',
    title: 'Payload does not match',
    explanation:
      'The idempotency key was used before with another body. Use a new key for a new operation, or repeat the first body byte for byte.',
  },
  'idempotency-in-progress': {
    kind: 'conflict',
    title: 'First request still running',
    explanation:
      'A request with the same idempotency key is still running. Wait for the seconds in `Retry-After` and repeat the request; then the response to the first one is replayed.',
  },
  'idempotency-unavailable': {
    kind: 'overloaded',
    title: 'Idempotency store unavailable',
    explanation:
      'The request has an idempotency key and the store of keys is unavailable. The request was not executed; try again later.',
  },
  'revocation-unconfirmed': {
    kind: 'overloaded',
    title: 'Revocation not confirmed',
    explanation:
      'The API key is revoked, but not every gateway could be told; some may accept it for a few more seconds. Repeat the request until it succeeds; from then on no gateway accepts the key.',
  },
  'area-unavailable': {
    kind: 'overloaded',
    title: 'Part of the platform unavailable',
    explanation:
      'The service behind this address is unavailable. Other services are not affected; try again later.',
  },
  'area-timed-out': {
    kind: 'overloaded',
    title: 'No response in time',
    explanation:
      'The service behind this address did not respond in time. If the request changes something, repeat it with the same idempotency key to be sure that it is executed once.',
  },
  overloaded: {
    kind: 'overloaded',
    title: 'Too many requests at once',
    explanation:
      'The service behind this address is processing as many requests as it can. Try again a little later.',
  },
  'share-used-up': {
    kind: 'limited',
    title: 'Share used up',
    explanation:
      'You or your tenant use as much at the same time as may be used without keeping others out; the detail says what, and `scope` whose share it is. Try again when something of yours has ended.',
  },
  'quota-exceeded': {
    kind: 'limited',
    title: 'Quota exceeded',
    explanation:
      'Your tenant has as much as its quota allows; `quota` names it, with its limit and what is used. Delete what is no longer needed, wait for the seconds in `Retry-After`, when the oldest part of it expires, or ask an operator for more.',
  },
  'stale-version': {
    kind: 'conflict',
    title: 'Changed meanwhile',
    explanation:
      'The version in `If-Match`, or a `formerValue`, is not the current one, or what `If-None-Match: *` was to create is there: the resource was changed since you read it. Read it again and repeat your change.',
  },
});

/** The problem of a share that is used up. @param what in plural, for the detail: `documents to print` */
export function shareUsedUp(scope: ShareScope, what: string, retryAfterSeconds = 1): Problem {
  if (scope === 'all')
    return platformProblems.overloaded(`There are too many ${what} at the same time.`, { retryAfterSeconds });
  return platformProblems['share-used-up'](`This ${scope} has too many ${what} at the same time.`, {
    retryAfterSeconds,
    extensions: { scope },
  });
}

interface ExceededQuota {
  /** Its name in the problem, in kebab-case. */
  quota: string;
  /** In plural, for the detail. */
  what: string;
  limit: number;
  used: number;
  /** Absent where room comes only by deleting. */
  retryAfterSeconds?: number;
  /** Whose quota it is; the tenant's by default. */
  scope?: 'tenant' | 'user';
}

/** The problem of a quota of a tenant or user. */
export const quotaExceeded = ({
  quota,
  what,
  limit,
  used,
  retryAfterSeconds,
  scope = 'tenant',
}: ExceededQuota): Problem =>
  platformProblems['quota-exceeded'](`This ${scope} has ${used} ${what}; its quota is ${limit}.`, {
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    extensions: { quota: { name: quota, scope, limit, used } },
  });
