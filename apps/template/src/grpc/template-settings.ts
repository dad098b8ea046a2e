import { createSettingsClient, type SettingsClient } from '@plinth/clients/settings-client';
import type { Caller } from '@plinth/kernel/caller';
import type { Log } from '@plinth/runtime/process/log';
import type { Registry } from 'prom-client';
import { APPROVAL_REQUIRED } from '../domain/settings';

export interface TemplateSettings extends Pick<SettingsClient, 'register' | 'close'> {
  /** Whether templates of this tenant must be reviewed before publication. */
  isApprovalRequired(tenantId: string): Promise<boolean>;
  /** Settings as this caller may read them, secrets masked: what templates show. */
  visibleTo(caller: Caller, names: readonly string[]): Promise<Record<string, string | null>>;
}

/** The settings of this service, and those that templates show. */
export function templateSettings(
  config: { GRPC_SERVICES: Record<string, string>; CALLER_KEYS: readonly string[] },
  log: Log,
  metrics: Registry,
): TemplateSettings {
  const { register, resolve, resolveVisible, close } = createSettingsClient(config, log, metrics);
  return {
    register,
    async isApprovalRequired(tenantId) {
      const values = await resolve({ tenantId }, [APPROVAL_REQUIRED]);
      return values[APPROVAL_REQUIRED] === 'true';
    },
    visibleTo: resolveVisible,
    close,
  };
}
