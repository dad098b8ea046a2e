import { API_KEY_DAYS, API_KEY_DAYS_MAX, type CreateApiKeyRequest } from '@plinth/contracts/settings/shapes';
import { holds, type Caller } from '@plinth/kernel/caller';
import { latestAfterDays } from '@plinth/kernel/instant';
import { invalid } from '@plinth/kernel/problem';
import { apiKeyNotForKeys, permissionsNotHeld } from './problems';

const DAY_MILLISECONDS = 86_400_000;

/** What a new API key may do, and until when. */
export interface ApiKeyGrant {
  name: string;
  permissions: string[];
  expiresAt: Date;
}

/**
 * Decides what a caller may give to a new API key: only permissions that the caller has, and not for ever.
 * @throws Problem `api-key-not-for-keys`, `api-key-permission-not-held`, or `invalid` for the expiry
 */
export function grantApiKey(caller: Caller, request: CreateApiKeyRequest, now: Date): ApiKeyGrant {
  requirePerson(caller);
  const permissions = [...new Set(request.permissions)];
  const foreign = permissions.filter((permission) => !holds(caller, permission));
  if (foreign.length > 0) throw permissionsNotHeld(foreign);
  const expiresAt =
    request.expiresAt === undefined
      ? new Date(now.getTime() + API_KEY_DAYS * DAY_MILLISECONDS)
      : new Date(request.expiresAt);
  if (expiresAt <= now || expiresAt > latestAfterDays(now, API_KEY_DAYS_MAX))
    throw invalid({ expiresAt: 'Range' }, `The expiry is in the future, at most ${API_KEY_DAYS_MAX} days.`);
  return { name: request.name, permissions, expiresAt };
}

/** A key that was stolen makes no other keys, and takes none away. @throws Problem `api-key-not-for-keys` */
export function requirePerson(caller: Caller): void {
  if (caller.apiKeyId !== undefined) throw apiKeyNotForKeys();
}
