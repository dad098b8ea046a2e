import type { Person } from './people';
import type { Session } from './stored-session';

/** Becomes a person of a tenant, where the platform runs for development. */
export async function developmentSession({ userId, name, role }: Person, tenantId: string): Promise<Session> {
  const response = await fetch('/dev/token', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ sub: userId, name, tenantId, roles: [role] }),
  });
  if (!response.ok) throw new Error(`The development issuer responded with ${response.status}.`);
  const { accessToken, expiresIn } = (await response.json()) as { accessToken: string; expiresIn: number };
  return { token: accessToken, expiresAt: Date.now() + expiresIn * 1_000, tenantId };
}
