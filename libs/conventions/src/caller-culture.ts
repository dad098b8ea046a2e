import type { IncomingMessage } from 'node:http';
import { canonicalCulture } from '@plinth/contracts/schemas';
import type { Caller } from '@plinth/kernel/caller';
import type { Close } from '@plinth/runtime/lifecycle';
import type { Log } from '@plinth/runtime/log';
import { createSettingsClient } from './settings-client';

const PREFERRED_CULTURE = 'Service.Localization.PreferredCulture';
const DEFAULT_CULTURE = 'en';
/** No browser sends more. */
const RANGES_MAX = 50;

export interface CallerCulture {
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

  const preferred = async ({ tenantId, userId }: Caller): Promise<string | undefined> => {
    try {
      const found = await settings?.resolve({ tenantId, userId }, [PREFERRED_CULTURE]);
      return canonicalCulture(found?.[PREFERRED_CULTURE] ?? '');
    } catch (error) {
      log.warn({ err: error }, 'the preferred culture is not known now');
      return undefined;
    }
  };

  return {
    of: async (caller, { headers }) =>
      (await preferred(caller)) ?? mostAccepted(headers['accept-language']) ?? DEFAULT_CULTURE,
    close: () => settings?.close(),
  };
}

/** The language tag of the highest quality; what cannot be read is as good as absent. */
export function mostAccepted(acceptLanguage = ''): string | undefined {
  const ranges = acceptLanguage.split(',', RANGES_MAX).flatMap((range) => {
    const [, tag = '', quality = '1'] = /^\s*([a-z\d-]+)\s*(?:;\s*q=([\d.]+))?\s*$/i.exec(range) ?? [];
    const culture = canonicalCulture(tag);
    return culture !== undefined && Number(quality) > 0 ? [{ culture, quality: Number(quality) }] : [];
  });
  return ranges.sort((left, right) => right.quality - left.quality)[0]?.culture;
}
