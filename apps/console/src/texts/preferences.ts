import { useSyncExternalStore } from 'react';

/** What the console knows of a person before their settings arrive: those of the last time in this browser. */
export interface Preferences {
  /** Undefined: the languages of the browser decide. */
  culture?: string;
  /** Undefined: that of the system. */
  theme?: 'light' | 'dark';
  timeZone?: string;
}

const STORAGE_KEY = 'plinth-preferences';
const listeners = new Set<() => void>();
let current: Preferences = JSON.parse(localStorage.getItem(STORAGE_KEY) ?? '{}') as Preferences;
applyTheme();

export function setPreferences(change: {
  [Name in keyof Preferences]?: Preferences[Name] | undefined;
}): void {
  const next = Object.entries({ ...current, ...change }).filter(([, value]) => value !== undefined);
  current = Object.fromEntries(next);
  localStorage.setItem(STORAGE_KEY, JSON.stringify(current));
  applyTheme();
  for (const listener of listeners) listener();
}

function applyTheme(): void {
  document.documentElement.style.colorScheme = current.theme ?? 'light dark';
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

export const usePreferences = (): Preferences => useSyncExternalStore(subscribe, () => current);
