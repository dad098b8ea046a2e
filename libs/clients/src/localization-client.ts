import type { Caller } from '@plinth/kernel/caller';
import { protoPackages } from '@plinth/proto/packages';
import { serviceClient } from '@plinth/runtime/rpc/grpc';
import type { Close } from '@plinth/runtime/process/lifecycle';
import type { Registry } from 'prom-client';

export interface LocalizationClient {
  /** The tenant's texts of keys like `Invoice:total` in one culture; null where there is none. */
  texts(caller: Caller, culture: string, keys: readonly string[]): Promise<Record<string, string | null>>;
  close: Close;
}

const DEADLINE_MILLISECONDS = 2_000;

/** Creates a client of the localization service. */
export function createLocalizationClient(
  config: { GRPC_SERVICES: Record<string, string>; CALLER_KEYS: readonly string[] },
  metrics?: Registry,
): LocalizationClient {
  const address = config.GRPC_SERVICES['localization'] ?? 'localization:9090';
  const { Localization } = protoPackages.localization.v1;
  const localization = serviceClient('localization', Localization, address, config.CALLER_KEYS, metrics);
  return {
    async texts(caller, cultureName, keys) {
      const request = { tenantId: caller.tenantId, cultureName, resources: byResource(keys) };
      const options = { deadlineMilliseconds: DEADLINE_MILLISECONDS };
      const response = await localization.call('ResolveTexts', request, caller, options);
      const found = new Map(
        response.texts.map(({ resourceName, key, value }) => [`${resourceName}:${key}`, value]),
      );
      return Object.fromEntries(keys.map((key) => [key, found.get(key) ?? null]));
    },
    close: localization.close,
  };
}

/** Keys without a resource stand for no text. */
function byResource(keys: readonly string[]): { resourceName: string; keys: string[] }[] {
  const resources = new Map<string, string[]>();
  for (const key of keys) {
    const colon = key.indexOf(':');
    if (colon < 1) continue;
    const resourceName = key.slice(0, colon);
    const names = resources.get(resourceName) ?? [];
    names.push(key.slice(colon + 1));
    resources.set(resourceName, names);
  }
  return [...resources].map(([resourceName, names]) => ({ resourceName, keys: names }));
}
