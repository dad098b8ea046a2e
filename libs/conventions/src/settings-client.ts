import type { SettingDefinition } from '@plinth/contracts/settings/shapes';
import { protoPackages } from '@plinth/proto/packages';
import { sibling } from '@plinth/runtime/grpc';
import type { Close } from '@plinth/runtime/lifecycle';
import type { Log } from '@plinth/runtime/log';

export interface SettingsClient {
  /**
   * Resolves settings by the cascade, secrets in clear: for the service's own use, never to be shown.
   * Without a user the tenant's level is resolved. Names that nobody defines are absent; null is unset.
   * @throws Problem `overloaded` while the settings area does not answer.
   */
  resolve(
    of: { tenantId: string; userId?: string | undefined },
    names: readonly string[],
  ): Promise<Record<string, string | null>>;
  /** Makes the settings known that this service reads; tried until it succeeds, without keeping the start waiting. */
  register(service: string, definitions: readonly SettingDefinition[]): void;
  close: Close;
}

const RETRY_MILLISECONDS = 1_000;

/** Prepares questions to the settings area. */
export function createSettingsClient(
  config: { GRPC_SERVICES: Record<string, string>; CALLER_KEYS: readonly string[] },
  log: Log,
): SettingsClient {
  const address = config.GRPC_SERVICES['settings'] ?? 'settings:9090';
  const settings = sibling('settings', protoPackages.settings.v1.Settings, address, config.CALLER_KEYS);
  let closed = false;

  const register = async (service: string, definitions: readonly SettingDefinition[]): Promise<void> => {
    const message = definitions.map(({ defaultValue, schema, ...rest }) => ({
      ...rest,
      schema: JSON.stringify(schema),
      ...(defaultValue === null ? {} : { defaultValue }),
    }));
    while (!closed) {
      try {
        await settings.ask('RegisterDefinitions', { service, definitions: message }, null);
        return;
      } catch (error) {
        log.debug({ err: error }, 'the settings area does not take definitions yet');
        await new Promise((resolve) => setTimeout(resolve, RETRY_MILLISECONDS).unref());
      }
    }
  };

  return {
    async resolve({ tenantId, userId }, names) {
      const request = { tenantId, userId: userId ?? '', names: [...names] };
      const response = await settings.ask('Resolve', request, null, { deadlineMilliseconds: 2_000 });
      return Object.fromEntries(response.settings.map(({ name, value }) => [name, value ?? null]));
    },
    register: (service, definitions) => void register(service, definitions),
    close: () => {
      closed = true;
      settings.close();
    },
  };
}
