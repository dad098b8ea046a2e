import type { SettingScope } from '@plinth/contracts/settings/shapes';
import { HOST_TENANT_ID, type Caller } from '@plinth/kernel/caller';

/** One level at which settings can be set; what is set at global scope belongs to the host tenant. */
export interface Level {
  tenantId: string;
  scope: SettingScope;
  /** Empty except at user scope. */
  userId: string;
}

export const levelOf = (caller: Caller, scope: SettingScope): Level => ({
  tenantId: scope === 'global' ? HOST_TENANT_ID : caller.tenantId,
  scope,
  userId: scope === 'user' ? caller.userId : '',
});
