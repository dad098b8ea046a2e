import { HOST_TENANT_ID, type Caller } from '@plinth/kernel/caller';
import { malformed } from '@plinth/kernel/problem';
import { isUuid } from '@plinth/kernel/uuid';
import type { Tenant } from '@plinth/runtime/process/config';
import { platformProblems } from '@plinth/contracts/platform/problems';
import type { Identity } from './identity';

/** The tenant of the operators, which no configuration needs to name. */
export const HOST_TENANT = { id: HOST_TENANT_ID, shortName: 'host', name: 'Plinth' };

const SWITCH = 'Platform.Tenants.Switch';

/** The tenants that have names, and the rules by which a request chooses one. */
export class Tenants {
  private readonly byId: ReadonlyMap<string, Tenant>;
  private readonly idByShortName: ReadonlyMap<string, string>;
  private readonly idByHost: ReadonlyMap<string, string>;
  /** Most callers use one tenant for as long as their token is valid. */
  private readonly latestCallers = new WeakMap<Identity, Caller>();

  constructor(tenants: readonly Tenant[]) {
    this.byId = new Map(tenants.map((tenant) => [tenant.id.toLowerCase(), tenant]));
    this.idByShortName = new Map(
      tenants.map(({ shortName, id }) => [shortName.toLowerCase(), id.toLowerCase()]),
    );
    this.idByHost = new Map(
      tenants.flatMap(({ hosts, id }) =>
        (hosts ?? []).map((host) => [host.toLowerCase(), id.toLowerCase()] as const),
      ),
    );
  }

  /**
   * The caller in the tenant that the request names, or else in that of the token.
   * @throws Problem `tenant-not-allowed` for a tenant that the token does not belong to.
   */
  callerIn(identity: Identity, requestedTenantId: string | undefined): Caller {
    const tenantId = requestedTenantId ?? identity.tenantId;
    const latest = this.latestCallers.get(identity);
    if (latest?.tenantId === tenantId) return latest;
    const maySwitch =
      identity.tenantId === HOST_TENANT_ID &&
      (identity.permissions.includes('*') || identity.permissions.includes(SWITCH));
    if (tenantId !== identity.tenantId && !identity.tenants.includes(tenantId) && !maySwitch) {
      throw platformProblems['tenant-not-allowed'](
        'Your token does not belong to the tenant that the request names.',
      );
    }
    const caller = {
      tenantId,
      tenantName: this.nameOf(tenantId),
      userId: identity.userId,
      userName: identity.userName,
      permissions: identity.permissions,
      credentialExpiresAt: identity.expiresAt,
      ...(identity.apiKeyId !== undefined && { apiKeyId: identity.apiKeyId }),
    };
    this.latestCallers.set(identity, caller);
    return caller;
  }

  /** The tenants that have names, that of the operators last. */
  get named(): readonly { id: string; name: string }[] {
    const all = [...this.byId.values(), ...(this.byId.has(HOST_TENANT.id) ? [] : [HOST_TENANT])];
    return all.map(({ id, name }) => ({ id, name }));
  }

  private nameOf(tenantId: string): string | undefined {
    return this.byId.get(tenantId)?.name ?? (tenantId === HOST_TENANT.id ? HOST_TENANT.name : undefined);
  }

  /** Reads the header `X-Tenant-Id`. */
  fromHeader(values: readonly string[]): string | undefined {
    if (values.length === 0) return undefined;
    const [value = ''] = values;
    if (values.length > 1 || !isUuid(value)) throw malformed('The header X-Tenant-Id must be one UUID.');
    return value.toLowerCase();
  }

  /** Reads the query parameter `tenant`: an id, or a configured short name. */
  fromParameter(values: readonly string[]): string | undefined {
    if (values.length === 0) return undefined;
    const [value = ''] = values;
    if (values.length > 1) throw malformed('The parameter tenant is repeated.');
    const id = isUuid(value) ? value.toLowerCase() : this.idByShortName.get(value.toLowerCase());
    if (id === undefined) throw platformProblems['unknown-tenant']('There is no tenant with that name.');
    return id;
  }

  /** The tenant of an anonymous request that names none: that of the host name, else the host tenant. */
  ofHost(host: string | undefined): string {
    return this.idByHost.get((host ?? '').toLowerCase().replace(/:\d+$/, '')) ?? HOST_TENANT_ID;
  }
}
