import type { IncomingMessage } from 'node:http';
import type { SettingsClient } from '@plinth/conventions/settings-client';
import type { Caller } from '@plinth/kernel/caller';
import type { Log } from '@plinth/runtime/log';
import { chooseCulture, type SystemCulture } from '../domain/system-text';

const PREFERRED_CULTURE = 'Service.Localization.PreferredCulture';
const REMEMBERED_MILLISECONDS = 10_000;
const REMEMBERED_MAX = 10_000;

export type ReaderCulture = (caller: Caller, request: IncomingMessage) => Promise<SystemCulture>;

/** Finds the culture of a reader: what they prefer, else what their client accepts, else the default. */
export function readerCulture(settings: Pick<SettingsClient, 'resolve'>, log: Log): ReaderCulture {
  const remembered = new Map<string, { preferred: Promise<string | undefined>; until: number }>();

  const ask = async ({ tenantId, userId }: Caller): Promise<string | undefined> => {
    try {
      return (
        (await settings.resolve({ tenantId, userId }, [PREFERRED_CULTURE]))[PREFERRED_CULTURE] ?? undefined
      );
    } catch (error) {
      // Texts are worth more than their language.
      log.warn({ err: error }, 'the preferred culture is not known now');
      return undefined;
    }
  };

  return async (caller, request) => {
    const key = `${caller.tenantId}/${caller.userId}`;
    let entry = remembered.get(key);
    if (!entry || entry.until < Date.now()) {
      if (remembered.size >= REMEMBERED_MAX) remembered.clear();
      entry = { preferred: ask(caller), until: Date.now() + REMEMBERED_MILLISECONDS };
      remembered.set(key, entry);
    }
    return chooseCulture(await entry.preferred, request.headers['accept-language']);
  };
}
