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
import { randomUUID } from 'node:crypto';
import type { ShareOwner, ShareScope } from '@plinth/kernel/fair-shares';
import { uuidFrom } from '@plinth/kernel/uuid-from';
import type { Redis } from 'ioredis';
import type { CompleteResponse } from '../request-context';
import { redisScript } from '../redis-script';
import { SLIDING_SUM } from '../sliding-sum';

export interface RecordSettings {
  retentionSeconds: number;
  markerMilliseconds: number;
  /** Of the responses of all callers together. */
  bytesMax: number;
}

/** The result of claiming a key; its states are values of a metric's label. */
export type Claim =
  | { state: 'claimed' }
  | { state: 'in-progress'; expiresInMilliseconds: number }
  | { state: 'mismatch' }
  | { state: 'replayed'; response: CompleteResponse };

const KEY_PREFIX = 'plinth:idempotency:';
const COUNTER_PREFIX = 'plinth:idempotency-bytes';

/** Has a script set the marker of a key that has no record, as part of something else; returns whether it did. */
export const MARK_FUNCTION = `
local function mark(key, run, fingerprint, milliseconds)
  if redis.call('HSETNX', key, 'run', run) == 0 then return false end
  redis.call('HSET', key, 'fingerprint', fingerprint)
  redis.call('PEXPIRE', key, milliseconds)
  return true
end
`;

/**
 * A run that claims its key again, since it did not learn that it has it, has it still.
 *
 * KEYS: the key. ARGV: run, fingerprint, milliseconds of the marker.
 */
const CLAIM = `${MARK_FUNCTION}
if mark(KEYS[1], ARGV[1], ARGV[2], ARGV[3]) then return { 'claimed' } end
local record = redis.call('HMGET', KEYS[1], 'run', 'fingerprint', 'status', 'headers', 'body')
if record[3] then
  if record[2] ~= ARGV[2] then return { 'mismatch' } end
  return { 'replayed', record[3], record[4], record[5] }
end
if record[1] == ARGV[1] then
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
  return { 'claimed' }
end
return { 'in-progress', redis.call('PTTL', KEYS[1]) }
`;

/** The retention time is counted in so many slices, so that what expires is soon free again. */
const SLICES = 24;
/** What Redis needs for a record beside the response. */
const RECORD_BYTES = 400;

/**
 * A response is stored by the run that holds the key, or after the marker expired; never over that of another run. One
 * that exceeds a share is not stored, and its marker is deleted.
 *
 * KEYS: the key, and the counters of bytes of all, of the tenant and of the user: sliding sums.
 * ARGV: run, fingerprint, seconds of retention, status, headers, body, bytes of all responses together.
 * The shares are those of FairShares: a tenant may hold as much as is free, a user half of that.
 */
const STORE = `${SLIDING_SUM}
local held = redis.call('HMGET', KEYS[1], 'run', 'status')
if held[2] or (held[1] and held[1] ~= ARGV[1]) then return 'other' end
local retention = tonumber(ARGV[3])
local slice = math.floor(tonumber(redis.call('TIME')[1]) * ${SLICES} / retention)
local milliseconds = math.ceil(retention * 1000 / ${SLICES}) * ${SLICES + 1}
local used = {}
for i = 2, 4 do used[i] = readSum(KEYS[i], slice, ${SLICES}, milliseconds).used end
local bytes = #ARGV[5] + #ARGV[6] + ${RECORD_BYTES}
local free = tonumber(ARGV[7]) - used[2]
local refused
if bytes > free then refused = 'all'
elseif used[3] > 0 and used[3] + bytes > free then refused = 'tenant'
elseif used[4] > 0 and 2 * (used[4] + bytes) > free then refused = 'user' end
if refused then
  redis.call('DEL', KEYS[1])
  return refused
end
for i = 2, 4 do addToSum(KEYS[i], slice, bytes) end
redis.call('HSET', KEYS[1], 'run', ARGV[1], 'fingerprint', ARGV[2], 'status', ARGV[4], 'headers', ARGV[5], 'body', ARGV[6])
redis.call('EXPIRE', KEYS[1], ARGV[3])
return 'stored'
`;

/** KEYS: the key. ARGV: run, fingerprint, milliseconds of the marker. Returns whether the run holds the key. */
const HOLD = `
local run = redis.call('HGET', KEYS[1], 'run')
if run and run ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'run', ARGV[1], 'fingerprint', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
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
  /** Whose share its response uses. */
  owner: ShareOwner;
  /** This attempt. */
  run: string;
  fingerprint: string;
}

export class IdempotencyRecords {
  private readonly scripts;

  constructor(
    redis: Redis,
    private readonly settings: RecordSettings,
  ) {
    this.scripts = {
      claim: redisScript(redis, 'plinthClaim', CLAIM),
      hold: redisScript(redis, 'plinthHold', HOLD),
      store: redisScript(redis, 'plinthStore', STORE),
      release: redisScript(redis, 'plinthRelease', RELEASE),
    };
  }

  async claim({ operationId, run, fingerprint }: Run): Promise<Claim> {
    const values = [run, fingerprint, this.settings.markerMilliseconds];
    const result = await this.scripts.claim([recordKeyOf({ operationId })], values);
    const [state, ...rest] = result as [Buffer, ...Buffer[]];
    switch (state.toString()) {
      case 'claimed':
        return { state: 'claimed' };
      case 'mismatch':
        return { state: 'mismatch' };
      case 'in-progress':
        return { state: 'in-progress', expiresInMilliseconds: Number(rest[0]) };
      default:
        return { state: 'replayed', response: toResponse(rest) };
    }
  }

  /** Lets the marker of a run last anew; returns false where it expired and another run has the key since. */
  async hold({ operationId, run, fingerprint }: Run): Promise<boolean> {
    const values = [run, fingerprint, this.settings.markerMilliseconds];
    return (await this.scripts.hold([recordKeyOf({ operationId })], values)) === 1;
  }

  /** Replaces the marker by the response. Where that exceeds a share it is deleted, and the share is returned. */
  async store(
    { operationId, run, fingerprint, owner }: Run,
    { status, headers, body }: CompleteResponse,
  ): Promise<ShareScope | undefined> {
    const { retentionSeconds, bytesMax } = this.settings;
    const response = [status, JSON.stringify(headers), body ?? ''];
    const values = [run, fingerprint, retentionSeconds, ...response, bytesMax];
    const tenant = `:${owner.tenantId}`;
    const counters = ['', tenant, `${tenant}:${owner.userId}`].map((name) => COUNTER_PREFIX + name);
    const result = String(await this.scripts.store([recordKeyOf({ operationId }), ...counters], values));
    return result === 'stored' || result === 'other' ? undefined : (result as ShareScope);
  }

  /** Deletes the marker, so that the next attempt runs at once. */
  async release({ operationId, run }: Run): Promise<void> {
    await this.scripts.release([recordKeyOf({ operationId })], [run]);
  }
}

/** The key in Redis of a run. */
export const recordKeyOf = ({ operationId }: Pick<Run, 'operationId'>): string => KEY_PREFIX + operationId;

const toResponse = ([status, headers, body]: Buffer[]): CompleteResponse => ({
  status: Number(status),
  headers: JSON.parse(headers!.toString()) as string[],
  body: body!.length === 0 ? undefined : body,
});

/**
 * Begins an attempt at the operation of a key.
 * @param fingerprint of the body, by which another request with the same key is recognized
 */
export const newRun = (space: KeySpace, fingerprint: string): Run => ({
  operationId: operationIdOf(space),
  owner: space,
  run: randomUUID(),
  fingerprint,
});

/** The same operation has the same id; nothing about the key can be read from it. */
function operationIdOf({ tenantId, userId, method, path, key }: KeySpace): string {
  return uuidFrom(JSON.stringify([tenantId, userId, method, path, key]));
}
