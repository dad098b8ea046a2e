import { createSettingsClient, type SettingsClient } from '@plinth/clients/settings-client';
import type { Caller } from '@plinth/kernel/caller';
import { protoPackages } from '@plinth/proto/packages';
import { serviceClient } from '@plinth/runtime/rpc/grpc';
import type { Log } from '@plinth/runtime/process/log';
import { APPROVAL_REQUIRED } from '../domain/settings';

interface Config {
  GRPC_SERVICES: Record<string, string>;
  CALLER_KEYS: readonly string[];
}

export interface TemplateSettings extends Pick<SettingsClient, 'register' | 'close'> {
  /** Whether templates of this tenant must be reviewed before publication. */
  isApprovalRequired(tenantId: string): Promise<boolean>;
  /** Settings as this caller may read them, secrets masked: what templates show. */
  visibleTo(caller: Caller, names: readonly string[]): Promise<Record<string, string | null>>;
}

const DEADLINE_MILLISECONDS = 2_000;

/** The settings of this service, and those that templates show. */
export function templateSettings(config: Config, log: Log): TemplateSettings {
  const client = createSettingsClient(config, log);
  const address = config.GRPC_SERVICES['settings'] ?? 'settings:9090';
  const settings = serviceClient('settings', protoPackages.settings.v1.Settings, address, config.CALLER_KEYS);
  return {
    register: client.register,
    async isApprovalRequired(tenantId) {
      const values = await client.resolve({ tenantId }, [APPROVAL_REQUIRED]);
      return values[APPROVAL_REQUIRED] === 'true';
    },
    async visibleTo(caller, names) {
      const request = { tenantId: caller.tenantId, userId: caller.userId, names: [...names] };
      const response = await settings.call('Resolve', request, caller, {
        deadlineMilliseconds: DEADLINE_MILLISECONDS,
      });
      const found = new Map(response.settings.map(({ name, value }) => [name, value ?? null]));
      return Object.fromEntries(names.map((name) => [name, found.get(name) ?? null]));
    },
    close: async () => {
      await settings.close();
      await client.close();
    },
  };
}
