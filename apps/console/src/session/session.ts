import { useSyncExternalStore } from 'react';

/** The credential of the person at this window. */
export interface Session {
  token: string;
  /** In milliseconds since 1970. */
  expiresAt: number;
  /** Says to the identity provider whose session ends there; people of development have none. */
  idToken?: string | undefined;
}

const STORAGE_KEY = 'plinth-session';
const listeners = new Set<() => void>();
let current = stored();

/** Of this window only: another window signs in for itself, and closing it signs out. */
function stored(): Session | undefined {
  const text = sessionStorage.getItem(STORAGE_KEY);
  const session = text === null ? undefined : (JSON.parse(text) as Session);
  return session && session.expiresAt > Date.now() ? session : undefined;
}

export function currentSession(): Session | undefined {
  return current && current.expiresAt > Date.now() ? current : undefined;
}

export function beginSession(session: Session): void {
  sessionStorage.setItem(STORAGE_KEY, JSON.stringify(session));
  change(session);
}

export function endSession(): void {
  sessionStorage.removeItem(STORAGE_KEY);
  change(undefined);
}

function change(session: Session | undefined): void {
  current = session;
  for (const listener of listeners) listener();
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

export const useSession = (): Session | undefined => useSyncExternalStore(subscribe, () => current);
