import { Problem } from '@plinth/kernel/problem';
import type { Request } from 'express';
import { missingCredential } from '../identity/refusal';
import type { Tenants } from '../identity/tenants';
import type { IdentityOf } from './pages';

/**
 * The caller of a page that needs one, in the tenant that the request names.
 * @throws Problem `invalid-credential` without a valid credential, or what `Tenants` refuses
 */
export function signedInCaller(request: Request, identityOf: IdentityOf, tenants: Tenants) {
  const identity = identityOf(request);
  if (identity instanceof Problem) throw identity;
  if (!identity) throw missingCredential();
  return tenants.callerIn(identity, tenants.fromHeader(request.headersDistinct['x-tenant-id'] ?? []));
}
