import type { IncomingMessage } from 'node:http';
import type { CallerCulture } from '@plinth/clients/caller-culture';
import { rowMessages } from '@plinth/exchange/row-message';
import { createLocalizationClient } from '@plinth/clients/localization-client';
import type { Caller } from '@plinth/kernel/caller';
import type { Close } from '@plinth/runtime/process/lifecycle';
import type { Log } from '@plinth/runtime/process/log';
import type { RowMessageTexts } from '../domain/failed-row';

const KEY_PREFIX = 'DataExchange:rowErrors.';
const inEnglish: RowMessageTexts = { culture: 'en', byKey: {} };

export interface RowMessageTextSource {
  /**
   * The row messages in the culture of a caller. None while the localization service is unavailable: a report in
   * English is better than no report.
   */
  of(caller: Caller, request: IncomingMessage): Promise<RowMessageTexts>;
  close: Close;
}

export function rowMessageTexts(
  config: { GRPC_SERVICES: Record<string, string>; CALLER_KEYS: readonly string[] },
  cultures: CallerCulture,
  log: Log,
): RowMessageTextSource {
  const localization = 'localization' in config.GRPC_SERVICES ? createLocalizationClient(config) : undefined;
  const keys = Object.keys(rowMessages).map((key) => KEY_PREFIX + key);
  return {
    async of(caller, request) {
      if (!localization) return inEnglish;
      try {
        const culture = await cultures.of(caller, request);
        const found = await localization.texts(caller, culture, keys);
        const known = Object.entries(found).filter((entry): entry is [string, string] => entry[1] !== null);
        return {
          culture,
          byKey: Object.fromEntries(known.map(([key, text]) => [key.slice(KEY_PREFIX.length), text])),
        };
      } catch (error) {
        log.warn({ err: error }, 'row messages could not be localized; using English');
        return inEnglish;
      }
    },
    close: () => localization?.close(),
  };
}
