/** What the console knows of a person before their settings arrive: those of the last time in this browser. */
export interface Preferences {
  /** Undefined: the languages of the browser decide. */
  culture?: string;
  /** Undefined: that of the system. */
  theme?: 'light' | 'dark';
  timeZone?: string;
}

export const PREFERENCES_KEY = 'plinth-preferences';

export const storedPreferences = (): Preferences =>
  JSON.parse(localStorage.getItem(PREFERENCES_KEY) ?? '{}') as Preferences;
