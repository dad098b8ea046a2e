import { hash } from 'node:crypto';
import type { Redis } from 'ioredis';

const digests = new Map<string, string>();

/** Runs a script by its digest, and by its text where the server does not have it (any more). */
export async function runScript(
  redis: Redis,
  script: string,
  keys: readonly string[],
  values: readonly (string | number | Buffer)[],
): Promise<unknown> {
  let digest = digests.get(script);
  if (digest === undefined) digests.set(script, (digest = hash('sha1', script)));
  try {
    return await redis.callBuffer('EVALSHA', digest, keys.length, ...keys, ...values);
  } catch (error) {
    if (!(error as Error).message.startsWith('NOSCRIPT')) throw error;
    return redis.callBuffer('EVAL', script, keys.length, ...keys, ...values);
  }
}
