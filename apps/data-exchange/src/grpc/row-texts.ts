import type { IncomingMessage } from 'node:http';
import type { CallerCulture } from '@plinth/conventions/caller-culture';
import { rowTexts } from '@plinth/conventions/exchange/row-texts';
import { createLocalizationClient } from '@plinth/conventions/localization-client';
import type { Caller } from '@plinth/kernel/caller';
import type { Close } from '@plinth/runtime/lifecycle';
import type { Log } from '@plinth/runtime/log';
import type { RowTexts } from '../domain/failed-row';

const GROUP = 'DataExchange:rowErrors.';

export interface TranslatedRowTexts {
  /**
   * What is said of failed rows in the culture of a caller. It is nothing while the localization area is away: a
   * report is worth more than its language.
   */
  of(caller: Caller, request: IncomingMessage): Promise<RowTexts>;
  close: Close;
}

export function translatedRowTexts(
  config: { GRPC_SERVICES: Record<string, string>; CALLER_KEYS: readonly string[] },
  cultures: CallerCulture,
  log: Log,
): TranslatedRowTexts {
  const localization = 'localization' in config.GRPC_SERVICES ? createLocalizationClient(config) : undefined;
  const keys = Object.keys(rowTexts).map((key) => GROUP + key);
  return {
    async of(caller, request) {
      if (!localization) return {};
      try {
        const found = await localization.texts(caller, await cultures.of(caller, request), keys);
        const known = Object.entries(found).filter((entry): entry is [string, string] => entry[1] !== null);
        return Object.fromEntries(known.map(([key, text]) => [key.slice(GROUP.length), text]));
      } catch (error) {
        log.warn({ err: error }, 'the texts of row errors are not known now');
        return {};
      }
    },
    close: () => localization?.close(),
  };
}
