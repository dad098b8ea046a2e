import type { IncomingMessage } from 'node:http';
import type { CallerCulture } from '@plinth/clients/caller-culture';
import { formatFindings } from '@plinth/contracts/data-exchange/format-findings';
import { rowMessages } from '@plinth/exchange/row-message';
import { createLocalizationClient } from '@plinth/clients/localization-client';
import type { Caller } from '@plinth/kernel/caller';
import type { Close } from '@plinth/runtime/process/lifecycle';
import type { Log } from '@plinth/runtime/process/log';
import type { Registry } from 'prom-client';
import type { MessageTexts } from '../domain/message-texts';

const RESOURCE = 'DataExchange:';
const inEnglish: MessageTexts = { culture: 'en', byKey: {} };

export interface MessageTextSource {
  /**
   * The messages about rows and files in the culture of a caller. None while the localization service is unavailable: a report in
   * English is better than no report.
   */
  of(caller: Caller, request: IncomingMessage): Promise<MessageTexts>;
  close: Close;
}

export function messageTexts(
  config: { GRPC_SERVICES: Record<string, string>; CALLER_KEYS: readonly string[] },
  cultures: CallerCulture,
  log: Log,
  metrics: Registry,
): MessageTextSource {
  const localization =
    'localization' in config.GRPC_SERVICES ? createLocalizationClient(config, metrics) : undefined;
  const keys = [
    ...Object.keys(rowMessages).map((key) => `${RESOURCE}rowErrors.${key}`),
    ...Object.keys(formatFindings).map((key) => `${RESOURCE}findings.${key}`),
  ];
  return {
    async of(caller, request) {
      if (!localization) return inEnglish;
      try {
        const culture = await cultures.of(caller, request);
        const found = await localization.texts(caller, culture, keys);
        const known = Object.entries(found).filter((entry): entry is [string, string] => entry[1] !== null);
        return {
          culture,
          byKey: Object.fromEntries(known.map(([key, text]) => [key.slice(RESOURCE.length), text])),
        };
      } catch (error) {
        log.warn({ err: error }, 'messages could not be localized; using English');
        return inEnglish;
      }
    },
    close: () => localization?.close(),
  };
}
