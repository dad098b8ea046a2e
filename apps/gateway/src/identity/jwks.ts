import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import type { Clock } from '@plinth/kernel/clock';
import { platformProblems } from '@plinth/contracts/platform/problems';

/** Keys older than this are fetched again before they are used. */
const AGE_SECONDS_MAX = 600;
/** An unknown key id makes the keys be fetched again, at most this often. */
const COOLDOWN_SECONDS = 30;
/** While there are no keys at all, they are fetched at most this often. */
const RETRY_SECONDS = 1;
const FETCH_MILLISECONDS_MAX = 5_000;

export type FetchKeys = () => Promise<JSONWebKeySet>;

/**
 * The keys of an identity provider, fetched when they are needed.
 * A new key is found without a restart; while the provider is unavailable the known keys are used until they are too old,
 * and then a problem `upstream` is thrown. A flood of unknown key ids does not become a flood of fetches.
 */
export function remoteKeys(fetchKeys: FetchKeys, clock: Clock): JWTVerifyGetKey {
  let keys: JWTVerifyGetKey | undefined;
  let fetchedAt = 0;
  let attemptedAt = 0;
  let fetching: Promise<void> | undefined;

  const secondsSince = (instant: number) => (clock.now().getTime() - instant) / 1000;

  const refresh = (): Promise<void> => {
    fetching ??= fetchKeys()
      .then((set) => {
        keys = createLocalJWKSet(set);
        fetchedAt = clock.now().getTime();
      })
      .finally(() => {
        attemptedAt = clock.now().getTime();
        fetching = undefined;
      });
    return fetching;
  };

  const ensureFresh = async (): Promise<void> => {
    if (keys && secondsSince(fetchedAt) < AGE_SECONDS_MAX) return;
    if (!fetching && secondsSince(attemptedAt) < RETRY_SECONDS) throw providerUnavailable();
    await refresh().catch((cause: unknown) => {
      throw providerUnavailable(cause);
    });
  };

  return async (header, token) => {
    await ensureFresh();
    try {
      return await keys!(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey) || secondsSince(attemptedAt) < COOLDOWN_SECONDS)
        throw error;
      await refresh().catch(() => undefined);
      return keys!(header, token);
    }
  };
}

/** Fetches a key set over HTTP. */
export const fetchKeysFrom =
  (url: string): FetchKeys =>
  async () => {
    const response = await fetch(url, {
      signal: AbortSignal.timeout(FETCH_MILLISECONDS_MAX),
      redirect: 'error',
    });
    if (!response.ok) throw new Error(`The identity provider responded with ${response.status}.`);
    return (await response.json()) as JSONWebKeySet;
  };

const providerUnavailable = (cause?: unknown) =>
  platformProblems['identity-provider-unavailable']('The keys of the identity provider cannot be fetched.', {
    cause,
    retryAfterSeconds: 5,
  });
