import type { Redis } from 'ioredis';

type Value = string | number | Buffer;
export type RedisScript = (keys: readonly string[], values: readonly Value[]) => Promise<unknown>;

/** Makes a script a command of a client, which runs it by its digest where the server has it; texts come as buffers. */
export function redisScript(redis: Redis, name: string, lua: string): RedisScript {
  redis.defineCommand(name, { lua });
  const commands = redis as unknown as Record<string, (...args: Value[]) => Promise<unknown>>;
  return (keys, values) => commands[`${name}Buffer`]!(keys.length, ...keys, ...values);
}
