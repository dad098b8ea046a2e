/** The tenant of the platform's operators, and of callers whose token names no tenant. */
export const HOST_TENANT_ID = '00000000-0000-0000-0000-000000000000';

/** Who asks, as the gateway established it from the credential. */
export interface Caller {
  /** The tenant acted in. */
  tenantId: string;
  tenantName?: string | undefined;
  userId: string;
  userName: string;
  /** Granted permissions; `*` stands for all. */
  permissions: readonly string[];
  /** Derived from the idempotency key; the same for every retry of one operation. */
  operationId?: string | undefined;
}

/** Whether the caller holds a permission of the form `Module.Resource.Action`. */
export const holds = (caller: Caller, permission: string): boolean =>
  caller.permissions.includes('*') || caller.permissions.includes(permission);

/** Whether the caller acts in the host tenant, the only one from which the whole platform may be changed. */
export const isOfHost = (caller: Caller): boolean => caller.tenantId === HOST_TENANT_ID;
