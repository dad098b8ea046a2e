import { defineProblems } from '@plinth/kernel/problem';

/** What can go wrong anywhere: at the gateway, and in the conventions that all services share. */
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
      'The request needs the header `Authorization: Bearer …` with a token that is signed by a trusted issuer, meant for this audience and not expired. Get a new token and repeat the request.',
  },
  'identity-provider-unavailable': {
    kind: 'upstream',
    title: 'Identity provider unavailable',
    explanation:
      'The keys of the identity provider cannot be fetched, so tokens cannot be checked. It is not the fault of your token; try again later.',
  },
  'permission-missing': {
    kind: 'forbidden',
    title: 'Permission missing',
    explanation:
      'You are known, but none of your roles grants the permission that the detail names. Ask an administrator for it.',
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
      'You, your tenant or your address sent more requests than its limit allows. Wait as long as `Retry-After` says. The headers `RateLimit-Policy` and `RateLimit` tell the limits and what is left of them.',
  },
  'idempotency-key-missing': {
    kind: 'invalid',
    title: 'Idempotency key missing',
    explanation:
      'This endpoint is configured to need an idempotency key. Send a header with a value that is unique for the operation, such as a UUID.',
  },
  'idempotency-key-not-valid': {
    kind: 'invalid',
    title: 'Idempotency key not valid',
    explanation: 'An idempotency key is given once and has 1 to 255 visible ASCII characters.',
  },
  'idempotency-multipart': {
    kind: 'invalid',
    title: 'Multipart requests cannot be idempotent',
    explanation:
      'The boundaries of a multipart body differ from try to try, so two of them cannot be compared. Send the request without an idempotency key.',
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
      'A request with the same idempotency key is still running. Wait as long as `Retry-After` says and repeat it; then the answer of the first one is replayed.',
  },
  'idempotency-unavailable': {
    kind: 'overloaded',
    title: 'Idempotency store unavailable',
    explanation:
      'The request has an idempotency key and the store of keys does not answer. Nothing was executed; try again later.',
  },
  'area-unavailable': {
    kind: 'overloaded',
    title: 'Part of the platform unavailable',
    explanation:
      'The part of the platform that serves this address does not answer. The other parts are not affected; try again later.',
  },
  'area-timed-out': {
    kind: 'overloaded',
    title: 'No answer in time',
    explanation:
      'The part of the platform that serves this address did not answer in time. If the request changes something, repeat it with the same idempotency key to be sure that it is done once.',
  },
  overloaded: {
    kind: 'overloaded',
    title: 'Too many requests at once',
    explanation:
      'More requests are being worked on than this part of the platform takes. Try again a little later.',
  },
  'stale-version': {
    kind: 'conflict',
    title: 'Changed meanwhile',
    explanation:
      'The version in `If-Match` is not the current one: somebody changed it since you read it. Read it again and repeat your change.',
  },
});
