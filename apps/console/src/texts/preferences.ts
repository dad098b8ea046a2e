import { useSyncExternalStore } from 'react';
import { PREFERENCES_KEY, storedPreferences, type Preferences } from './stored-preferences';

const listeners = new Set<() => void>();
let current = storedPreferences();
applyTheme();

export function setPreferences(change: {
  [Name in keyof Preferences]?: Preferences[Name] | undefined;
}): void {
  const next = Object.entries({ ...current, ...change }).filter(([, value]) => value !== undefined);
  const text = JSON.stringify(Object.fromEntries(next));
  // As mostly where a page begins.
  if (text === JSON.stringify(current)) return;
  current = JSON.parse(text) as Preferences;
  localStorage.setItem(PREFERENCES_KEY, text);
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
