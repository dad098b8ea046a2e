import {
  createRemoteJWKSet,
  customFetch,
  errors,
  jwksCache,
  type FetchImplementation,
  type JWKSCacheInput,
  type JWTVerifyGetKey,
} from 'jose';
import { platformProblems } from '@plinth/contracts/platform/problems';
import type { Log } from '@plinth/runtime/process/log';

/** Keys older than this are fetched again before they are used. */
const AGE_MILLISECONDS_MAX = 600_000;
/** From this age on they are fetched beside the requests, so that a slow provider makes nobody wait. */
const AHEAD_MILLISECONDS = 300_000;
/** An unknown key id makes the keys be fetched again, at most this often. */
const COOLDOWN_MILLISECONDS = 5_000;
const FETCH_MILLISECONDS_MAX = 5_000;
/** Of the keys as text: a provider may belong to one tenant, and its answer is read by the gateway of all. */
const KEYS_BYTES_MAX = 256 * 1024;
/** While the provider is unavailable, it is asked at most this often. */
const RETRY_MILLISECONDS = 1_000;

/** What is wrong with a token, in contrast to what is wrong with the provider. */
const ERRORS_OF_TOKEN = [errors.JWKSNoMatchingKey, errors.JWKSMultipleMatchingKeys, errors.JOSENotSupported];

export interface RemoteKeys {
  /** @throws Problem `identity-provider-unavailable` while there are no keys that are young enough. */
  find: JWTVerifyGetKey;
  /** @throws Error with the address, where there are no keys that are young enough and none can be fetched. */
  check(): Promise<void>;
}

/**
 * The keys of an identity provider, fetched when they are needed: a new key is found without a restart, and a flood of
 * unknown key ids does not become a flood of fetches. It is logged once when they cannot be fetched, and once when
 * they can be again.
 */
export function remoteKeys(url: string, log: Pick<Log, 'warn' | 'info'>, fetchKeys = fetch): RemoteKeys {
  let failure: { at: number; error: Error } | undefined;
  /** The keys and since when they are known, whatever else the provider has sent since then. */
  const known: JWKSCacheInput = {};
  const hasJustFailed = (): boolean =>
    failure !== undefined && performance.now() - failure.at < RETRY_MILLISECONDS;

  const fetchSometimes: FetchImplementation = async (address, options) => {
    if (hasJustFailed()) throw failure!.error;
    return withinBound(await fetchKeys(address, options));
  };
  const keys = createRemoteJWKSet(new URL(url), {
    cacheMaxAge: AGE_MILLISECONDS_MAX,
    cooldownDuration: COOLDOWN_MILLISECONDS,
    timeoutDuration: FETCH_MILLISECONDS_MAX,
    [customFetch]: fetchSometimes,
    [jwksCache]: known,
  });

  const noteFailure = (error: unknown): Error => {
    if (failure && failure.error === error) return failure.error;
    const reason = (error as { cause?: Error }).cause?.message ?? (error as Error).message;
    if (!failure) log.warn({ jwksUrl: url, reason }, 'the keys of the identity provider cannot be fetched');
    failure = { at: performance.now(), error: error as Error };
    return failure.error;
  };
  const noteSuccess = (): void => {
    // It cools down after a fetch that succeeded, and one that failed was not in that time.
    if (!failure || !keys.coolingDown) return;
    failure = undefined;
    log.info({ jwksUrl: url }, 'the keys of the identity provider can be fetched again');
  };
  /** Each call of `reload` has a timer, also one that ends at once: so it is not left to `fetchSometimes` to refuse. */
  const fetchAhead = (): void => {
    if (Date.now() - (known.uat ?? 0) < AHEAD_MILLISECONDS || keys.reloading || hasJustFailed()) return;
    keys.reload().then(noteSuccess, noteFailure);
  };

  return {
    async find(header, token) {
      try {
        const key = await keys(header, token);
        noteSuccess();
        fetchAhead();
        return key;
      } catch (error) {
        if (ERRORS_OF_TOKEN.some((kind) => error instanceof kind)) throw error;
        throw platformProblems['identity-provider-unavailable'](
          'The keys of the identity provider cannot be fetched.',
          { cause: noteFailure(error), retryAfterSeconds: 5 },
        );
      }
    },
    async check() {
      if (keys.fresh) return;
      try {
        await keys.reload();
        noteSuccess();
      } catch (error) {
        throw new Error(`The keys at ${url} cannot be fetched: ${noteFailure(error).message}`, {
          cause: error,
        });
      }
    },
  };
}

/** The response, read as far as keys may be long. @throws Error for a longer one */
async function withinBound(response: Response): Promise<Response> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > KEYS_BYTES_MAX) throw new Error('The keys are too many.');
    chunks.push(chunk);
  }
  return new Response(Buffer.concat(chunks), { status: response.status });
}
