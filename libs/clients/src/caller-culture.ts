import type { IncomingMessage } from 'node:http';
import { canonicalCulture } from '@plinth/contracts/schemas';
import { acceptedCultures } from '@plinth/kernel/accepted-cultures';
import type { Caller } from '@plinth/kernel/caller';
import type { Close } from '@plinth/runtime/process/lifecycle';
import type { Log } from '@plinth/runtime/process/log';
import type { Registry } from 'prom-client';
import { createSettingsClient } from './settings-client';

const PREFERRED_CULTURE = 'Service.Localization.PreferredCulture';
const DEFAULT_CULTURE = 'en';

export interface CallerCulture {
  /** The culture that a caller prefers; undefined where none is set, or while the settings service is unavailable. */
  preferred(caller: Caller): Promise<string | undefined>;
  /** The culture that a caller prefers, then those of `Accept-Language`, most preferred first. */
  preferences(caller: Caller, request: IncomingMessage): Promise<string[]>;
  /** The culture that a caller prefers, else the first of `Accept-Language`, else `en`. */
  of(caller: Caller, request: IncomingMessage): Promise<string>;
  close: Close;
}

/** Finds the culture of callers. While the settings service is unavailable, `Accept-Language` decides. */
export function createCallerCulture(
  config: { GRPC_SERVICES: Record<string, string>; CALLER_KEYS: readonly string[] },
  log: Log,
  metrics: Registry,
): CallerCulture {
  const settings =
    'settings' in config.GRPC_SERVICES ? createSettingsClient(config, log, metrics) : undefined;

  const preferred: CallerCulture['preferred'] = async ({ tenantId, userId }) => {
    try {
      const found = await settings?.resolve({ tenantId, userId }, [PREFERRED_CULTURE]);
      return canonicalCulture(found?.[PREFERRED_CULTURE] ?? '');
    } catch (error) {
      log.warn({ err: error }, 'reading the preferred culture failed; Accept-Language decides');
      return undefined;
    }
  };

  const preferences: CallerCulture['preferences'] = async (caller, { headers }) => {
    const accepted = acceptedCultures(headers['accept-language']).filter((culture) => culture !== '*');
    return [(await preferred(caller)) ?? [], accepted].flat();
  };

  return {
    preferred,
    preferences,
    of: async (caller, request) => (await preferences(caller, request))[0] ?? DEFAULT_CULTURE,
    close: () => settings?.close(),
  };
}
