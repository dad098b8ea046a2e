import type { Access } from '@plinth/contracts/endpoint';
import { holds, isOfHost, type Caller } from '@plinth/kernel/caller';
import { forbidden, Problem } from '@plinth/kernel/problem';

/** Refuses a caller who may not use the endpoint; the gateway has checked the same rule already. */
export function requireAccess(access: Access, caller: Caller | null): void {
  if (access.type === 'anonymous' || access.type === 'optional') return;
  if (!caller) throw new Problem('unauthenticated', 'This endpoint requires a bearer token.');
  if (access.type !== 'permission') return;
  if (!holds(caller, access.permission))
    throw forbidden(`This requires the permission ${access.permission}.`);
  if (access.hostOnly && !isOfHost(caller))
    throw forbidden('Only callers of the host tenant may change what concerns all tenants.');
}
