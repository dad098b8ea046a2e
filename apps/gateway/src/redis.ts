import { Redis, type Command } from 'ioredis';
import type { Log } from '@plinth/runtime/process/log';
import { PatientTimer } from '@plinth/runtime/process/patient-timer';

const COMMAND_MILLISECONDS_MAX = 1_000;
/** How long a command that was given up may leave its connection without a byte. */
const SILENT_MILLISECONDS_MAX = 1_000;
const OPEN_MILLISECONDS_MAX = 2_000;

/**
 * A client that fails a command to which Redis does not respond. A server that is lost with its machine closes no
 * connection, so one on which nothing comes back is closed and opened again.
 */
class PatientRedis extends Redis {
  override sendCommand(command: Command, stream?: Parameters<Redis['sendCommand']>[1]): unknown {
    const sent = super.sendCommand(command, stream);
    if (!command.isSettled) this.limitTime(command);
    return sent;
  }

  private limitTime(command: Command): void {
    const { stream: connection } = this;
    const { bytesRead } = connection;
    const closeInSilence = (): void => {
      if (connection.bytesRead === bytesRead) connection.destroy(new Error('Nothing comes back from Redis.'));
    };
    const timer = new PatientTimer(COMMAND_MILLISECONDS_MAX, () => {
      command.reject(new Error('Redis does not respond.'));
      new PatientTimer(SILENT_MILLISECONDS_MAX, closeInSilence);
    });
    const stop = (): void => timer.clear();
    command.promise.then(stop, stop);
  }
}

/**
 * Opens a Redis connection and waits a moment for it; the gateway serves what it can without it. A command fails quickly
 * instead of being queued while the server is away. A connection whose server became a replica is closed and opened
 * again, since another one answers at its address then.
 */
export async function openRedis(url: string, log: Log): Promise<Redis> {
  const redis = new PatientRedis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: 2_000,
    retryStrategy: (attempt) => Math.min(attempt * 100, 2_000),
    reconnectOnError: ({ message }) => message.includes('READONLY'),
    lazyConnect: false,
  });
  redis.on('error', (error: Error) => log.warn({ reason: error.message }, 'Redis unreachable'));
  await new Promise<void>((resolve) => {
    const timer = new PatientTimer(OPEN_MILLISECONDS_MAX, resolve);
    const go = (): void => {
      timer.clear();
      resolve();
    };
    redis.once('ready', go).once('error', go);
  });
  return redis;
}
