import type { IncomingMessage } from 'node:http';
import { canonicalCulture } from '@plinth/contracts/schemas';
import { acceptedCultures } from '@plinth/kernel/accepted-cultures';
import type { Caller } from '@plinth/kernel/caller';
import type { Close } from '@plinth/runtime/lifecycle';
import type { Log } from '@plinth/runtime/log';
import { createSettingsClient } from './settings-client';

const PREFERRED_CULTURE = 'Service.Localization.PreferredCulture';
const DEFAULT_CULTURE = 'en';

export interface CallerCulture {
  /** The culture that a caller prefers; undefined where none is set, or where it cannot be known now. */
  preferred(caller: Caller): Promise<string | undefined>;
  /** The culture that a caller prefers, then those that their client accepts, most wanted first. */
  wishes(caller: Caller, request: IncomingMessage): Promise<string[]>;
  /** The culture that a caller prefers, else what their client accepts most, else `en`. */
  of(caller: Caller, request: IncomingMessage): Promise<string>;
  close: Close;
}

/** Finds the culture of callers. While the settings area is away, their clients decide. */
export function createCallerCulture(
  config: { GRPC_SERVICES: Record<string, string>; CALLER_KEYS: readonly string[] },
  log: Log,
): CallerCulture {
  const settings = 'settings' in config.GRPC_SERVICES ? createSettingsClient(config, log) : undefined;

  const preferred: CallerCulture['preferred'] = async ({ tenantId, userId }) => {
    try {
      const found = await settings?.resolve({ tenantId, userId }, [PREFERRED_CULTURE]);
      return canonicalCulture(found?.[PREFERRED_CULTURE] ?? '');
    } catch (error) {
      log.warn({ err: error }, 'the preferred culture is not known now');
      return undefined;
    }
  };

  const wishes: CallerCulture['wishes'] = async (caller, { headers }) => {
    const accepted = acceptedCultures(headers['accept-language']).filter((culture) => culture !== '*');
    return [(await preferred(caller)) ?? [], accepted].flat();
  };

  return {
    preferred,
    wishes,
    of: async (caller, request) => (await wishes(caller, request))[0] ?? DEFAULT_CULTURE,
    close: () => settings?.close(),
  };
}
