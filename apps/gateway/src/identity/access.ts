import { accessOf, type Access } from '@plinth/contracts/endpoint';
import { holds, isOfHost, type Caller } from '@plinth/kernel/caller';
import { platformProblems } from '@plinth/contracts/platform/problems';
import { missingCredential } from './refusal';

/**
 * Refuses a caller who may not use an endpoint.
 * The service checks the same rule again: it does not depend on the check of the gateway.
 * @throws Problem `invalid-credential` without a caller, `permission-missing` without the permission.
 */
export function requireAccess(
  access: Access,
  params: Record<string, string>,
  caller: Caller | undefined,
): void {
  const rule = accessOf(access, params);
  if (rule.type === 'anonymous' || rule.type === 'optional') return;
  if (!caller) throw missingCredential();
  if (rule.type !== 'permission') return;
  if (!holds(caller, rule.permission)) {
    throw platformProblems['permission-missing'](`This requires the permission ${rule.permission}.`);
  }
  if (rule.hostOnly && !isOfHost(caller)) {
    throw platformProblems['permission-missing'](
      'Only callers of the host tenant may change what concerns all tenants.',
    );
  }
}
