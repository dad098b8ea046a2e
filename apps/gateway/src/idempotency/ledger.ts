/**
 * The ledger of idempotency keys.
 *
 * A key goes through two states. While its first request runs there is a marker, which names the run that holds it and
 * the fingerprint of the body, and which goes away by itself when the gateway that set it dies. When the answer is
 * known it takes the marker's place for the time of retention. Every step is one script in Redis, so that any number
 * of gateways agree on who runs: whoever finds nothing sets the marker and runs, everybody else is told what is there.
 *
 * Redis is not the truth about effects and need not be. A marker can expire under a slow request, and Redis can lose
 * everything: then a second request runs. That is harmless because both carry the same operation id, and the service
 * stores that id together with the effect, under a unique index: the second run finds the first effect.
 */
import { hash } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { WholeAnswer } from '../exchange';
import { runScript } from '../redis-script';

export interface LedgerSettings {
  retentionSeconds: number;
  markerMilliseconds: number;
}

/** What the ledger says about a key. */
export type Claim =
  | { state: 'claimed' }
  | { state: 'in-progress'; expiresInMilliseconds: number }
  | { state: 'mismatch' }
  | { state: 'answered'; answer: WholeAnswer };

const KEY_PREFIX = 'plinth:idempotency:';

/** KEYS: the key. ARGV: run, fingerprint, milliseconds of the marker. */
const CLAIM = `
local kept = redis.call('HMGET', KEYS[1], 'run', 'fingerprint', 'status', 'headers', 'body')
if kept[3] then
  if kept[2] ~= ARGV[2] then return { 'mismatch' } end
  return { 'answered', kept[3], kept[4], kept[5] }
end
if kept[1] then return { 'in-progress', redis.call('PTTL', KEYS[1]) } end
redis.call('HSET', KEYS[1], 'run', ARGV[1], 'fingerprint', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return { 'claimed' }
`;

/** An answer is stored by the run that holds the key, or where the marker is gone; never over another's. */
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

/** Who does what: the space in which a key is unique. */
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
  /** The same for every try of one operation; services guard their effects with it. */
  operationId: string;
  /** This try. */
  run: string;
  fingerprint: string;
}

export class Ledger {
  constructor(
    private readonly redis: Redis,
    private readonly settings: LedgerSettings,
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
        return { state: 'answered', answer: toAnswer(rest) };
    }
  }

  /** Keeps the answer, in place of the marker. */
  async store({ operationId, run, fingerprint }: Run, { status, headers, body }: WholeAnswer): Promise<void> {
    const { retentionSeconds } = this.settings;
    const answer = [status, JSON.stringify(headers), body ?? ''];
    await this.call(STORE, operationId, [run, fingerprint, retentionSeconds, ...answer]);
  }

  /** Takes the marker away, so that the next try runs at once. */
  async release({ operationId, run }: Run): Promise<void> {
    await this.call(RELEASE, operationId, [run]);
  }

  private call(script: string, operationId: string, values: (string | number | Buffer)[]): Promise<unknown> {
    return runScript(this.redis, script, [KEY_PREFIX + operationId], values);
  }
}

const toAnswer = ([status, headers, body]: Buffer[]): WholeAnswer => ({
  status: Number(status),
  headers: JSON.parse(headers!.toString()) as string[],
  body: body!.length === 0 ? undefined : body,
});

/** The same operation has the same id; it has the form of a UUID (version 8) and tells nothing about the key. */
export function operationIdOf({ tenantId, userId, method, path, key }: KeySpace): string {
  const hex = hash('sha256', JSON.stringify([tenantId, userId, method, path, key]));
  const variant = ((parseInt(hex[16]!, 16) & 0x3) | 0x8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

export const fingerprintOf = (body: Buffer): string => hash('sha256', body, 'base64url');
