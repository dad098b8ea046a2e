import { Redis } from 'ioredis';
import type { Log } from '@plinth/runtime/process/log';

/**
 * Opens a Redis connection that fails a command quickly instead of queueing it while the server is away. A server that is
 * lost with its machine closes no connection, so one on which nothing comes back is closed and opened again. So is one whose
 * server became a replica, since another one answers at its address then.
 */
export function createRedis(url: string, log: Log): Redis {
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: 2_000,
    commandTimeout: 1_000,
    socketTimeout: 2_000,
    retryStrategy: (attempt) => Math.min(attempt * 100, 2_000),
    reconnectOnError: ({ message }) => message.includes('READONLY'),
    lazyConnect: false,
  });
  redis.on('error', (error: Error) => log.warn({ reason: error.message }, 'Redis unreachable'));
  return redis;
}
