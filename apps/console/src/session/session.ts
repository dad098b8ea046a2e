import { useSyncExternalStore } from 'react';
import { SESSION_KEY, storedSession, type Session } from './stored-session';

const listeners = new Set<() => void>();
let current = storedSession();

export function currentSession(): Session | undefined {
  return current && current.expiresAt > Date.now() ? current : undefined;
}

/** Remembers the tenant that the platform found in the token. */
export function rememberTenant(tenantId: string): void {
  if (current && current.tenantId !== tenantId) beginSession({ ...current, tenantId });
}

export function beginSession(session: Session): void {
  sessionStorage.setItem(SESSION_KEY, JSON.stringify(session));
  change(session);
}

export function endSession(): void {
  sessionStorage.removeItem(SESSION_KEY);
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
