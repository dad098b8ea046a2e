import { createSettingsClient, type SettingsClient } from '@plinth/conventions/settings-client';
import type { Caller } from '@plinth/kernel/caller';
import { protoPackages } from '@plinth/proto/packages';
import { sibling } from '@plinth/runtime/grpc';
import type { Log } from '@plinth/runtime/log';
import { APPROVAL_REQUIRED } from '../domain/settings';

interface Config {
  GRPC_SERVICES: Record<string, string>;
  CALLER_KEYS: readonly string[];
}

export interface TemplateSettingsClient extends Pick<SettingsClient, 'register' | 'close'> {
  /** Whether templates of this tenant must be reviewed before publication. */
  isApprovalRequired(tenantId: string): Promise<boolean>;
  /** Settings as this caller may read them, secrets masked: what templates show. */
  visibleTo(caller: Caller, names: readonly string[]): Promise<Record<string, string | null>>;
}

const DEADLINE_MILLISECONDS = 2_000;

/** Prepares questions to the settings area. */
export function templateSettingsClient(config: Config, log: Log): TemplateSettingsClient {
  const own = createSettingsClient(config, log);
  const address = config.GRPC_SERVICES['settings'] ?? 'settings:9090';
  const settings = sibling('settings', protoPackages.settings.v1.Settings, address, config.CALLER_KEYS);
  return {
    register: own.register,
    async isApprovalRequired(tenantId) {
      const values = await own.resolve({ tenantId }, [APPROVAL_REQUIRED]);
      return values[APPROVAL_REQUIRED] === 'true';
    },
    async visibleTo(caller, names) {
      const request = { tenantId: caller.tenantId, userId: caller.userId, names: [...names] };
      const response = await settings.ask('Resolve', request, caller, {
        deadlineMilliseconds: DEADLINE_MILLISECONDS,
      });
      const found = new Map(response.settings.map(({ name, value }) => [name, value ?? null]));
      return Object.fromEntries(names.map((name) => [name, found.get(name) ?? null]));
    },
    close: async () => {
      await settings.close();
      await own.close();
    },
  };
}
