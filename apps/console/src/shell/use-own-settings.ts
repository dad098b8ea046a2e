import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { settingsQuery, useSettingChange } from '../api/settings';
import { useAfterPaint } from '../components/after-paint';
import { setPreferences } from '../texts/preferences';

/** The settings of a person that the console itself obeys. */
const ownSettings = {
  culture: 'Service.Localization.PreferredCulture',
  timeZone: 'Service.Timing.PreferredTimezone',
  theme: 'Service.Console.Theme',
} as const;

/** Makes the console speak and look as the settings of the person say, on every device where they sign in. */
export function useOwnSettings(): void {
  // Until then it is as it was at the last visit; what the page is for comes first.
  const isPainted = useAfterPaint();
  const { data } = useQuery({ ...settingsQuery('user'), staleTime: 60_000, enabled: isPainted });
  useEffect(() => {
    if (!data) return;
    const valueOf = (name: string) => data[name]?.value ?? undefined;
    setPreferences({
      culture: valueOf(ownSettings.culture),
      timeZone: valueOf(ownSettings.timeZone),
      theme: valueOf(ownSettings.theme) as 'light' | 'dark' | undefined,
    });
  }, [data]);
}

/** Changes one of them; null leaves it to the tenant and the platform. */
export function useOwnSettingChange() {
  const changes = {
    culture: useSettingChange('user', ownSettings.culture),
    timeZone: useSettingChange('user', ownSettings.timeZone),
    theme: useSettingChange('user', ownSettings.theme),
  };
  return (setting: keyof typeof ownSettings, value: string | null) => changes[setting].mutate(value);
}
