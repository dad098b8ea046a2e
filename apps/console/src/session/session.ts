import { useSyncExternalStore } from 'react';
import { keepFor } from '../components/stored-state';
import { SESSION_KEY, storedSession, type Session } from './stored-session';

interface Person {
  userId: string;
  tenantId: string;
}

const listeners = new Set<() => void>();
let current = storedSession();
let idToken = current?.idToken;
/** Who has been at this window since it was loaded. */
let person: Person | undefined;
let hasLapsed = false;

export function currentSession(): Session | undefined {
  return current && current.expiresAt > Date.now() ? current : undefined;
}

/**
 * Says to the identity provider whose session ends there. It outlives their session here, which may have ended by itself
 * while that of the provider goes on.
 */
export const idTokenOfPerson = (): string | undefined => idToken;

/** Remembers whom the platform found in the token, and forgets what another person kept in this window. */
export function rememberPerson({ userId, tenantId }: Person): void {
  keepFor({ userId, tenantId });
  person = { userId, tenantId };
  if (current && current.tenantId !== tenantId) beginSession({ ...current, tenantId });
}

/** Whether somebody is at this window, also where their session has ended meanwhile. */
export const hasPerson = (): boolean => person !== undefined;

export const isPersonOfWindow = ({ userId, tenantId }: Person): boolean =>
  person?.userId === userId && person.tenantId === tenantId;

export function beginSession(session: Session): void {
  sessionStorage.setItem(SESSION_KEY, JSON.stringify(session));
  idToken = session.idToken;
  hasLapsed = false;
  change(session);
}

const SIGN_OUTS = 'plinth-sign-outs';

/** Ends the session of this window where its person signs out in another one; what is written here stays until they are back. */
export function followSignOuts(): void {
  new BroadcastChannel(SIGN_OUTS).onmessage = ({ data }: MessageEvent<Person>) => {
    if (isPersonOfWindow(data)) lapse();
  };
}

/** Tells the other windows of this browser who signs out. */
export function announceSignOut(): void {
  if (!person) return;
  const channel = new BroadcastChannel(SIGN_OUTS);
  channel.postMessage(person);
  channel.close();
}

/** Whoever it was is no longer at this window. */
export function endSession(): void {
  sessionStorage.removeItem(SESSION_KEY);
  person = undefined;
  idToken = undefined;
  hasLapsed = false;
  change(undefined);
}

/**
 * Where the platform refuses the token of somebody who is in the middle of something: waits until they signed in again,
 * and resolves to whether there is another token than the refused one.
 */
export async function sessionRenewed(refusedToken: string): Promise<boolean> {
  if (!person) return false;
  const isRefused = () => !currentSession() || currentSession()?.token === refusedToken;
  if (isRefused() && !hasLapsed) lapse();
  while (hasLapsed) await nextChange();
  return !isRefused();
}

function lapse(): void {
  sessionStorage.removeItem(SESSION_KEY);
  hasLapsed = true;
  change(undefined);
}

const nextChange = (): Promise<void> =>
  new Promise((resolve) => {
    const unsubscribe = subscribe(() => {
      unsubscribe();
      resolve();
    });
  });

function change(session: Session | undefined): void {
  current = session;
  for (const listener of [...listeners]) listener();
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

export const useSession = (): Session | undefined => useSyncExternalStore(subscribe, () => current);

/** Whether the session ended by itself while somebody was at the window: their page stays until they are back. */
export const isLapsed = (): boolean => hasLapsed;
export const useHasLapsed = (): boolean => useSyncExternalStore(subscribe, isLapsed);
