import type { SettingDefinition } from '@plinth/contracts/settings/shapes';
import type { Caller } from '@plinth/kernel/caller';
import { Problem } from '@plinth/kernel/problem';
import { protoPackages } from '@plinth/proto/packages';
import { serviceClient } from '@plinth/runtime/rpc/grpc';
import type { Close } from '@plinth/runtime/process/lifecycle';
import type { Log } from '@plinth/runtime/process/log';
import type { Registry } from 'prom-client';

export interface SettingsClient {
  /**
   * Resolves settings by the cascade, secrets in clear: for the service's own use, never to be shown.
   * Without a user the tenant's level is resolved. Undefined settings are absent; null is unset.
   * @throws Problem `overloaded` while the settings service is unavailable.
   */
  resolve(
    of: { tenantId: string; userId?: string | undefined },
    names: readonly string[],
  ): Promise<Record<string, string | null>>;
  /**
   * Resolves settings as a caller may see them, secrets masked. Null is unset, undefined or not visible.
   * @throws Problem `overloaded` while the settings service is unavailable.
   */
  resolveVisible(caller: Caller, names: readonly string[]): Promise<Record<string, string | null>>;
  /**
   * Registers the settings that this service reads, in the background, and retries until it succeeds. The log says why
   * definitions are refused.
   */
  register(service: string, definitions: readonly SettingDefinition[]): void;
  close: Close;
}

const RETRY_MILLISECONDS = 1_000;
const DEADLINE_MILLISECONDS = 2_000;

/** Creates a client of the settings service. */
export function createSettingsClient(
  config: { GRPC_SERVICES: Record<string, string>; CALLER_KEYS: readonly string[] },
  log: Log,
  metrics?: Registry,
): SettingsClient {
  const address = config.GRPC_SERVICES['settings'] ?? 'settings:9090';
  const { Settings } = protoPackages.settings.v1;
  const settings = serviceClient('settings', Settings, address, config.CALLER_KEYS, metrics);
  const options = { deadlineMilliseconds: DEADLINE_MILLISECONDS };
  let closed = false;

  const register = async (service: string, definitions: readonly SettingDefinition[]): Promise<void> => {
    const message = definitions.map(({ defaultValue, schema, ...rest }) => ({
      ...rest,
      schema: JSON.stringify(schema),
      ...(defaultValue === null ? {} : { defaultValue }),
    }));
    let isRefusalKnown = false;
    while (!closed) {
      try {
        await settings.call('RegisterDefinitions', { service, definitions: message }, null);
        return;
      } catch (error) {
        const isUnavailable = error instanceof Problem && error.kind === 'overloaded';
        const level = isUnavailable || isRefusalKnown ? 'debug' : 'error';
        log[level]({ err: error }, 'registering settings failed; will retry');
        isRefusalKnown ||= !isUnavailable;
        await new Promise((resolve) => setTimeout(resolve, RETRY_MILLISECONDS).unref());
      }
    }
  };

  return {
    async resolve({ tenantId, userId }, names) {
      const request = { tenantId, userId: userId ?? '', names: [...names] };
      const response = await settings.call('Resolve', request, null, options);
      return Object.fromEntries(response.settings.map(({ name, value }) => [name, value ?? null]));
    },
    async resolveVisible(caller, names) {
      const request = { tenantId: caller.tenantId, userId: caller.userId, names: [...names] };
      const response = await settings.call('Resolve', request, caller, options);
      const found = new Map(response.settings.map(({ name, value }) => [name, value ?? null]));
      return Object.fromEntries(names.map((name) => [name, found.get(name) ?? null]));
    },
    register: (service, definitions) => void register(service, definitions),
    close: () => {
      closed = true;
      settings.close();
    },
  };
}
