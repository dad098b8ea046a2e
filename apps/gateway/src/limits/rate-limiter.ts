import type { Redis } from 'ioredis';
import { redisScript, type RedisScript } from '../redis-script';
import { WINDOW_SECONDS, type Quota, type Scope } from './policies';

/** Whether a request is allowed, and what is left of the quota that runs out first. */
export interface Decision {
  allowed: boolean;
  scope: Scope;
  remaining: number;
  /** Until the quota grows again. */
  resetSeconds: number;
  /** False when Redis was unavailable, so that the request was allowed without being counted. */
  counted: boolean;
}

/** The window slides in slices: requests leave it slice by slice, and it never holds more than the limit. */
const SLICES = 20;
const SLICE_MILLISECONDS = (WINDOW_SECONDS * 1000) / SLICES;

/**
 * Decides a batch of requests in one step for all gateways. Requests with the same counters are a group; as many of each
 * group are allowed as there is room for.
 *
 * KEYS: the counters, each once: a hash from slice to number of requests.
 * ARGV: the limits of the counters, then for each group the number of requests, the number and the indexes of its counters.
 * Returns for each group: how many are allowed, the index of the decisive counter, what remains of it, milliseconds
 * until it grows.
 * The clock is that of the Redis server, so that the clocks of the gateways may differ.
 */
const SCRIPT = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local slice = math.floor(now / ${SLICE_MILLISECONDS})
local counters = {}
for i = 1, #KEYS do
  local entries = redis.call('HGETALL', KEYS[i])
  local counter = { used = 0, added = 0, oldest = slice, limit = tonumber(ARGV[i]) }
  for j = 1, #entries, 2 do
    local at = tonumber(entries[j])
    if at >= slice - ${SLICES} then
      counter.used = counter.used + tonumber(entries[j + 1])
      if at < counter.oldest then counter.oldest = at end
    else
      redis.call('HDEL', KEYS[i], entries[j])
    end
  end
  counters[i] = counter
end
local results = {}
local at = #KEYS + 1
while at <= #ARGV do
  local passing, count = tonumber(ARGV[at]), tonumber(ARGV[at + 1])
  local decisive, room = nil, nil
  for k = 2, count + 1 do
    local counter = counters[tonumber(ARGV[at + k])]
    local left = math.max(counter.limit - counter.used, 0)
    if room == nil or left < room then room, decisive = left, tonumber(ARGV[at + k]) end
  end
  passing = math.min(passing, room)
  for k = 2, count + 1 do
    local counter = counters[tonumber(ARGV[at + k])]
    counter.used = counter.used + passing
    counter.added = counter.added + passing
  end
  results[#results + 1] = passing
  results[#results + 1] = decisive
  results[#results + 1] = room - passing
  results[#results + 1] = (counters[decisive].oldest + ${SLICES + 1}) * ${SLICE_MILLISECONDS} - now
  at = at + count + 2
end
for i = 1, #KEYS do
  if counters[i].added > 0 then
    redis.call('HINCRBY', KEYS[i], slice, counters[i].added)
    redis.call('PEXPIRE', KEYS[i], ${WINDOW_SECONDS * 1000 + 2 * SLICE_MILLISECONDS})
  end
end
return results
`;

/** Waiting requests with the same counters. */
interface Group {
  quotas: readonly Quota[];
  resolves: ((decision: Decision) => void)[];
}

const BATCH_GROUPS_MAX = 256;
/** After an error of Redis requests are allowed uncounted for this time, so that an outage slows few of them. */
const REDIS_RETRY_MILLISECONDS = 1_000;
const KEY_PREFIX = 'plinth:limit:';

/**
 * Counts requests in Redis, exactly and for all gateways together.
 * Requests that arrive while a script runs in Redis are decided together by the next run: under load one run decides
 * many of them, and the cost of each becomes small. While Redis is unavailable every request is allowed.
 */
export class RateLimiter {
  /** By the key of the first counter: requests that share it share all counters. */
  private waiting = new Map<string, Group>();
  private isRunning = false;
  private uncountedUntil = 0;

  private readonly script: RedisScript;

  constructor(redis: Redis) {
    this.script = redisScript(redis, 'plinthDecide', SCRIPT);
  }

  consume(quotas: readonly Quota[]): Promise<Decision> {
    if (performance.now() < this.uncountedUntil) return Promise.resolve(uncounted(quotas));
    return new Promise((resolve) => {
      const { key } = quotas[0]!;
      const group = this.waiting.get(key);
      if (group) group.resolves.push(resolve);
      else this.waiting.set(key, { quotas, resolves: [resolve] });
      this.scheduleRun();
    });
  }

  /** Runs once this turn of the event loop has read all requests that have arrived. */
  private scheduleRun(): void {
    if (this.isRunning) return;
    this.isRunning = true;
    setImmediate(() => void this.runBatch());
  }

  private async runBatch(): Promise<void> {
    await this.decide(this.takeBatch());
    this.isRunning = false;
    if (this.waiting.size > 0) this.scheduleRun();
  }

  /** Takes the groups that have waited longest. A new map leaves nothing behind, as one does whose entries are deleted. */
  private takeBatch(): Group[] {
    const groups = [...this.waiting];
    this.waiting = new Map(groups.slice(BATCH_GROUPS_MAX));
    return groups.slice(0, BATCH_GROUPS_MAX).map(([, group]) => group);
  }

  private async decide(groups: readonly Group[]): Promise<void> {
    const indexes = new Map<string, number>();
    const counters: Quota[] = [];
    const wanted: number[] = [];
    for (const { quotas, resolves } of groups) {
      wanted.push(resolves.length, quotas.length);
      for (const quota of quotas) {
        let index = indexes.get(quota.key);
        if (index === undefined) indexes.set(quota.key, (index = counters.push(quota)));
        wanted.push(index);
      }
    }
    try {
      const results = await this.run(counters, wanted);
      groups.forEach((group, index) =>
        resolveGroup(group, counters, results.slice(index * 4, index * 4 + 4)),
      );
    } catch {
      this.uncountedUntil = performance.now() + REDIS_RETRY_MILLISECONDS;
      // Those that came meanwhile have waited already, and are not made to wait for the next one to fail.
      const late = [...this.waiting.values()];
      this.waiting = new Map();
      for (const { quotas, resolves } of [...groups, ...late])
        resolves.forEach((resolve) => resolve(uncounted(quotas)));
    }
  }

  private run(counters: readonly Quota[], wanted: readonly number[]): Promise<number[]> {
    const keys = counters.map(({ key }) => KEY_PREFIX + key);
    const limits = counters.map(({ limit }) => limit);
    return this.script(keys, [...limits, ...wanted]) as Promise<number[]>;
  }
}

/** The first requests of a group are allowed, each leaving one less. */
function resolveGroup({ resolves }: Group, counters: readonly Quota[], result: readonly number[]): void {
  const [passing, decisive, remaining, milliseconds] = result as [number, number, number, number];
  const { scope } = counters[decisive - 1]!;
  const resetSeconds = Math.max(Math.ceil(milliseconds / 1000), 1);
  resolves.forEach((resolve, index) => {
    const left = Math.max(passing - 1 - index, 0);
    resolve({ allowed: index < passing, scope, remaining: remaining + left, resetSeconds, counted: true });
  });
}

function uncounted(quotas: readonly Quota[]): Decision {
  const narrowest = quotas.reduce((left, right) => (right.limit < left.limit ? right : left));
  return {
    allowed: true,
    scope: narrowest.scope,
    remaining: narrowest.limit,
    resetSeconds: WINDOW_SECONDS,
    counted: false,
  };
}
