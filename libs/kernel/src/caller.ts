/** The tenant of the platform's operators, and of callers whose token names no tenant. */
export const HOST_TENANT_ID = '00000000-0000-0000-0000-000000000000';

/** The user and the tenant of a request, as the gateway determined them from the credential. */
export interface Caller {
  /** The tenant in which the caller acts. */
  tenantId: string;
  tenantName?: string | undefined;
  userId: string;
  userName: string;
  /** Granted permissions; `*` stands for all. */
  permissions: readonly string[];
  /** When the credential ends, in milliseconds since 1970; what is sent for longer than a request ends with it. */
  credentialExpiresAt?: number | undefined;
  /** The API key with which the caller came, where it was one. */
  apiKeyId?: string | undefined;
  /** Derived from the idempotency key; the same for every retry of one operation. */
  operationId?: string | undefined;
  /** Of the body of that request: a retry has the same one. */
  operationBodyHash?: string | undefined;
}

/** Whether the caller holds a permission of the form `Module.Resource.Action`. */
export const holds = (caller: Caller, permission: string): boolean =>
  caller.permissions.includes('*') || caller.permissions.includes(permission);

/** Whether the caller acts in the host tenant, whose callers alone may change what concerns all tenants. */
export const isOfHost = (caller: Caller): boolean => caller.tenantId === HOST_TENANT_ID;
