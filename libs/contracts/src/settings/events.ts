import { eventType } from '@plinth/kernel/event';
import { z } from 'zod';
import { SettingScope } from './shapes';

/** A value was set or cleared, or a setting was locked or unlocked. The event does not have the value: resolve it. */
export const settingChanged = eventType(
  'settings.setting-changed',
  z.object({
    scope: SettingScope,
    /** Whose value, at user scope. */
    userId: z.string().nullable(),
    names: z.array(z.string()),
  }),
);

export const settingsEvents = { settingChanged };
