import { eventType } from '@plinth/kernel/event';
import { z } from 'zod';
import { SettingScope } from './shapes';

/** More than one write changes; every name becomes an entry of a timeline. */
const NAMES_MAX = 5_000;

const ChangedSettings = z.object({
  scope: SettingScope,
  /** Whose value, at user scope. */
  userId: z.string().nullable(),
  names: z.array(z.string()).max(NAMES_MAX),
});

/**
 * A value of a tenant or of the platform was set or cleared, or a setting was locked or unlocked. The event does not have
 * the value: resolve it.
 */
export const settingChanged = eventType('settings.setting-changed', ChangedSettings);

/** A person's own value was set or cleared, which happens often and concerns few. */
export const userSettingChanged = eventType('settings.user-setting-changed', ChangedSettings);

const aboutApiKey = z.object({ id: z.uuid(), name: z.string() });

/** An API key was created. The event does not have the key. */
export const apiKeyCreated = eventType(
  'settings.api-key-created',
  aboutApiKey.extend({ permissions: z.array(z.string()), expiresAt: z.iso.datetime() }),
);

/** An API key was revoked, and is refused from now on. */
export const apiKeyRevoked = eventType('settings.api-key-revoked', aboutApiKey);

export const settingsEvents = { settingChanged, userSettingChanged, apiKeyCreated, apiKeyRevoked };
