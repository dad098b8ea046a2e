/** The credential of the person at this window. */
export interface Session {
  token: string;
  /** In milliseconds since 1970. */
  expiresAt: number;
  /** Says to the identity provider whose session ends there; people of development have none. */
  idToken?: string | undefined;
  /** Whose texts are shown before the platform says again who this is. */
  tenantId?: string | undefined;
}

export const SESSION_KEY = 'plinth-session';

/** That of this window only: another window signs in for itself, and closing it signs out. */
export function storedSession(): Session | undefined {
  const text = sessionStorage.getItem(SESSION_KEY);
  const session = text === null ? undefined : (JSON.parse(text) as Session);
  return session && session.expiresAt > Date.now() ? session : undefined;
}
