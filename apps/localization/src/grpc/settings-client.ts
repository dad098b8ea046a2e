import type { Caller } from '@plinth/kernel/caller';
import { protoPackages } from '@plinth/proto/packages';
import { sibling } from '@plinth/runtime/grpc';
import type { Close } from '@plinth/runtime/lifecycle';
import type { Log } from '@plinth/runtime/log';
import type { LocalizationConfig } from '../config';

const PREFERRED_CULTURE = 'Service.Localization.PreferredCulture';
/** Texts are worth more than the right language: whoever starts up does not wait longer for a preference. */
const DEADLINE_MILLISECONDS = 2_000;

export interface SettingsClient {
  /** The culture a caller prefers; undefined where none is set, or where it cannot be known now. */
  preferredCulture(caller: Caller): Promise<string | undefined>;
  close: Close;
}

export function settingsClient(config: LocalizationConfig, log: Log): SettingsClient {
  const address = config.GRPC_SERVICES['settings'];
  if (address === undefined) return { preferredCulture: () => Promise.resolve(undefined), close: () => {} };
  const settings = sibling('settings', protoPackages.settings.v1.Settings, address, config.CALLER_KEYS);
  return {
    preferredCulture: async (caller) => {
      const { tenantId, userId } = caller;
      try {
        const { settings: found } = await settings.ask(
          'Resolve',
          { tenantId, userId, names: [PREFERRED_CULTURE] },
          caller,
          { deadlineMilliseconds: DEADLINE_MILLISECONDS },
        );
        return found?.[0]?.value ?? undefined;
      } catch (error) {
        log.warn({ err: error }, 'the preferred culture is not known now');
        return undefined;
      }
    },
    close: settings.close,
  };
}
