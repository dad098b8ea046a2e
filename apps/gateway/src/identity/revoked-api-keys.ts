import type { Redis } from 'ioredis';
import { platformProblems } from '@plinth/contracts/platform/problems';

const KEY_PREFIX = 'plinth:revoked-api-key:';
/** Much longer than a gateway uses what it has looked up, also where its clock is set back meanwhile. */
const MARK_SECONDS = 600;
/** After an error Redis is not asked for this time, so that an outage slows few requests. */
const REDIS_RETRY_MILLISECONDS = 1_000;

/**
 * The API keys that were revoked lately, in Redis, where every gateway sees them: the mark of a key is there before its
 * revocation is confirmed.
 */
export class RevokedApiKeys {
  private silentUntil = 0;

  constructor(private readonly redis: Redis) {}

  /** @throws Problem `revocation-unconfirmed` while Redis is unavailable */
  async add(id: string): Promise<void> {
    try {
      await this.redis.set(KEY_PREFIX + id, '', 'EX', MARK_SECONDS);
    } catch (cause) {
      throw platformProblems['revocation-unconfirmed'](
        'The API key is revoked, but some gateways may accept it for a few more seconds; repeat the request.',
        { retryAfterSeconds: 2, cause },
      );
    }
  }

  /** Undefined while Redis is unavailable. */
  async has(id: string): Promise<boolean | undefined> {
    if (performance.now() < this.silentUntil) return undefined;
    try {
      return (await this.redis.exists(KEY_PREFIX + id)) > 0;
    } catch {
      this.silentUntil = performance.now() + REDIS_RETRY_MILLISECONDS;
      return undefined;
    }
  }
}
