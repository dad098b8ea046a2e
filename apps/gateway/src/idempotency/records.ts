/**
 * The idempotency records.
 *
 * The record of a key has two states. While the first request runs it is a marker, which names the run that holds the
 * key and the fingerprint of the body, and which expires when the gateway that set it dies. When the response is known it
 * replaces the marker for the retention time. Every step is one script in Redis, so that any number of gateways agree on
 * which request runs: the one that finds no record sets the marker and runs, every other one gets the record.
 *
 * Redis is not the source of truth about effects and need not be. A marker can expire under a slow request, and Redis can
 * lose everything: then a second request runs. That is harmless because both carry the same operation id, and the service
 * stores that id together with the effect, under a unique index: the second run finds the first effect.
 */
import { hash } from 'node:crypto';
import { uuidFrom } from '@plinth/kernel/uuid-from';
import type { Redis } from 'ioredis';
import type { CompleteResponse } from '../request-context';
import { runScript } from '../redis-script';

export interface RecordSettings {
  retentionSeconds: number;
  markerMilliseconds: number;
}

/** The result of claiming a key; its states are values of a metric's label. */
export type Claim =
  | { state: 'claimed' }
  | { state: 'in-progress'; expiresInMilliseconds: number }
  | { state: 'mismatch' }
  | { state: 'answered'; response: CompleteResponse };

const KEY_PREFIX = 'plinth:idempotency:';

/** KEYS: the key. ARGV: run, fingerprint, milliseconds of the marker. */
const CLAIM = `
local record = redis.call('HMGET', KEYS[1], 'run', 'fingerprint', 'status', 'headers', 'body')
if record[3] then
  if record[2] ~= ARGV[2] then return { 'mismatch' } end
  return { 'answered', record[3], record[4], record[5] }
end
if record[1] then return { 'in-progress', redis.call('PTTL', KEYS[1]) } end
redis.call('HSET', KEYS[1], 'run', ARGV[1], 'fingerprint', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return { 'claimed' }
`;

/** A response is stored by the run that holds the key, or after the marker expired; never over that of another run. */
const STORE = `
local run = redis.call('HGET', KEYS[1], 'run')
if run and run ~= ARGV[1] then return 0 end
if redis.call('HEXISTS', KEYS[1], 'status') == 1 then return 0 end
redis.call('HSET', KEYS[1], 'run', ARGV[1], 'fingerprint', ARGV[2], 'status', ARGV[4], 'headers', ARGV[5], 'body', ARGV[6])
redis.call('EXPIRE', KEYS[1], ARGV[3])
return 1
`;

const RELEASE = `
if redis.call('HGET', KEYS[1], 'run') ~= ARGV[1] then return 0 end
if redis.call('HEXISTS', KEYS[1], 'status') == 1 then return 0 end
return redis.call('DEL', KEYS[1])
`;

/** The space in which a key is unique. */
export interface KeySpace {
  tenantId: string;
  userId: string;
  method: string;
  /** With its query. */
  path: string;
  key: string;
}

/** One request that may hold a key. */
export interface Run {
  /** The same for every attempt of one operation; services run its effect once. */
  operationId: string;
  /** This attempt. */
  run: string;
  fingerprint: string;
}

export class IdempotencyRecords {
  constructor(
    private readonly redis: Redis,
    private readonly settings: RecordSettings,
  ) {}

  async claim({ operationId, run, fingerprint }: Run): Promise<Claim> {
    const result = await this.call(CLAIM, operationId, [run, fingerprint, this.settings.markerMilliseconds]);
    const [state, ...rest] = result as [Buffer, ...Buffer[]];
    switch (state.toString()) {
      case 'claimed':
        return { state: 'claimed' };
      case 'mismatch':
        return { state: 'mismatch' };
      case 'in-progress':
        return { state: 'in-progress', expiresInMilliseconds: Number(rest[0]) };
      default:
        return { state: 'answered', response: toResponse(rest) };
    }
  }

  /** Replaces the marker by the response. */
  async store(
    { operationId, run, fingerprint }: Run,
    { status, headers, body }: CompleteResponse,
  ): Promise<void> {
    const { retentionSeconds } = this.settings;
    const response = [status, JSON.stringify(headers), body ?? ''];
    await this.call(STORE, operationId, [run, fingerprint, retentionSeconds, ...response]);
  }

  /** Deletes the marker, so that the next attempt runs at once. */
  async release({ operationId, run }: Run): Promise<void> {
    await this.call(RELEASE, operationId, [run]);
  }

  private call(script: string, operationId: string, values: (string | number | Buffer)[]): Promise<unknown> {
    return runScript(this.redis, script, [KEY_PREFIX + operationId], values);
  }
}

const toResponse = ([status, headers, body]: Buffer[]): CompleteResponse => ({
  status: Number(status),
  headers: JSON.parse(headers!.toString()) as string[],
  body: body!.length === 0 ? undefined : body,
});

/** The same operation has the same id; nothing about the key can be read from it. */
export function operationIdOf({ tenantId, userId, method, path, key }: KeySpace): string {
  return uuidFrom(JSON.stringify([tenantId, userId, method, path, key]));
}

export const fingerprintOf = (body: Buffer): string => hash('sha256', body, 'base64url');
