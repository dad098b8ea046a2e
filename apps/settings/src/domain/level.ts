import type { SettingScope } from '@plinth/contracts/settings/shapes';
import { HOST_TENANT_ID, type Caller } from '@plinth/kernel/caller';

/** One level at which settings can be set; what is set at global scope belongs to the host tenant. */
export interface Level {
  tenantId: string;
  scope: SettingScope;
  /** Empty except at user scope. */
  userId: string;
}

/** The levels of a tenant that concern all of its users. */
export const levelsAbove = (tenantId: string): Record<'tenant' | 'global', Level> => ({
  tenant: { tenantId, scope: 'tenant', userId: '' },
  global: { tenantId: HOST_TENANT_ID, scope: 'global', userId: '' },
});

export const userLevel = (tenantId: string, userId: string): Level => ({ tenantId, scope: 'user', userId });

/** All levels that may concern one user. */
export const levelsOf = (tenantId: string, userId: string): Record<SettingScope, Level> => ({
  user: userLevel(tenantId, userId),
  ...levelsAbove(tenantId),
});

export const levelOf = (caller: Caller, scope: SettingScope): Level => ({
  tenantId: scope === 'global' ? HOST_TENANT_ID : caller.tenantId,
  scope,
  userId: scope === 'user' ? caller.userId : '',
});
