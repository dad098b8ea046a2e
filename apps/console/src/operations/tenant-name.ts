import type { PlatformOperations } from '../api/operations';

/** What a tenant is called; its id where the configuration does not name it. */
export const tenantName = (tenants: PlatformOperations['tenants'], tenantId: string): string =>
  tenants.find(({ id }) => id === tenantId)?.name ?? tenantId;
