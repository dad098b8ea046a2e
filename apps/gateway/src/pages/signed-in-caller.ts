import type { Endpoint } from '@plinth/contracts/endpoint';
import { requireAcceptable } from '@plinth/http/acceptable';
import type { Caller } from '@plinth/kernel/caller';
import { Problem } from '@plinth/kernel/problem';
import type { Request } from 'express';
import { requireAccess } from '../identity/access';
import { missingCredential } from '../identity/refusal';
import type { Tenants } from '../identity/tenants';
import type { IdentityOf } from './pages';

/**
 * The caller of an endpoint of the gateway itself, in the tenant that the request names, who may use it and accepts what it
 * sends.
 * @throws Problem `invalid-credential` without a valid credential, what `Tenants` refuses, `permission-missing`,
 * `not-acceptable`
 */
export function signedInCaller(
  endpoint: Endpoint,
  request: Request,
  identityOf: IdentityOf,
  tenants: Tenants,
): Caller {
  const identity = identityOf(request);
  if (identity instanceof Problem) throw identity;
  if (!identity) throw missingCredential();
  const caller = tenants.callerIn(identity, tenants.fromHeader(request.headersDistinct['x-tenant-id'] ?? []));
  requireAccess(endpoint.access, {}, caller);
  requireAcceptable(endpoint, request);
  return caller;
}
