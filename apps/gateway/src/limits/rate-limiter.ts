import type { Redis } from 'ioredis';
import { runScript } from '../redis-script';
import { WINDOW_SECONDS, type Quota, type Scope } from './policies';

/** What was decided, and what is left of the quota that runs out first. */
export interface Decision {
  allowed: boolean;
  scope: Scope;
  remaining: number;
  /** Until more is to be had. */
  resetSeconds: number;
  /** False when the counters could not be asked, so that the request passed uncounted. */
  counted: boolean;
}

/** The window is counted in slices: what leaves it does so slice by slice, and never more than the limit fits into it. */
const SLICES = 20;
const SLICE_MILLISECONDS = (WINDOW_SECONDS * 1000) / SLICES;

/**
 * Decides a batch of requests in their order, in one step for all gateways.
 *
 * KEYS: the counters, each once: a hash from slice to number of requests.
 * ARGV: number of counters, their limits, then for each request the number and the places of its counters.
 * Answers for each request: allowed, place of the decisive counter, remaining, milliseconds until more.
 * The time is that of the Redis server, so that gateways need not agree about it.
 */
const SCRIPT = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local slice = math.floor(now / ${SLICE_MILLISECONDS})
local counters = {}
for i = 1, #KEYS do
  local entries = redis.call('HGETALL', KEYS[i])
  local counter = { used = 0, added = 0, oldest = slice, limit = tonumber(ARGV[i + 1]) }
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
local at = #KEYS + 2
while at <= #ARGV do
  local count = tonumber(ARGV[at])
  local allowed, decisive, remaining = 1, 1, nil
  for k = 1, count do
    local place = tonumber(ARGV[at + k])
    local left = counters[place].limit - counters[place].used
    if left < 1 then allowed = 0 end
    if remaining == nil or left < remaining then remaining, decisive = left, place end
  end
  if allowed == 1 then
    for k = 1, count do
      local counter = counters[tonumber(ARGV[at + k])]
      counter.used = counter.used + 1
      counter.added = counter.added + 1
    end
    remaining = remaining - 1
  end
  results[#results + 1] = allowed
  results[#results + 1] = decisive
  results[#results + 1] = math.max(remaining, 0)
  results[#results + 1] = (counters[decisive].oldest + ${SLICES + 1}) * ${SLICE_MILLISECONDS} - now
  at = at + count + 1
end
for i = 1, #KEYS do
  if counters[i].added > 0 then
    redis.call('HINCRBY', KEYS[i], slice, counters[i].added)
    redis.call('PEXPIRE', KEYS[i], ${WINDOW_SECONDS * 1000 + 2 * SLICE_MILLISECONDS})
  end
end
return results
`;

interface Waiting {
  quotas: readonly Quota[];
  resolve: (decision: Decision) => void;
}

const BATCH_MAX = 256;
const KEY_PREFIX = 'plinth:limit:';

/**
 * Counts requests in Redis, exactly and for all gateways together.
 * Requests that arrive while an answer of Redis is awaited are decided together by the next call: under load one call
 * carries many of them, and the cost of each becomes small. While Redis is away everything passes.
 */
export class RateLimiter {
  private waiting: Waiting[] = [];
  private asking = false;

  constructor(private readonly redis: Redis) {}

  take(quotas: readonly Quota[]): Promise<Decision> {
    return new Promise((resolve) => {
      this.waiting.push({ quotas, resolve });
      if (!this.asking) void this.ask();
    });
  }

  private async ask(): Promise<void> {
    this.asking = true;
    while (this.waiting.length > 0) {
      const batch = this.waiting.splice(0, BATCH_MAX);
      await this.decide(batch);
    }
    this.asking = false;
  }

  private async decide(batch: readonly Waiting[]): Promise<void> {
    const places = new Map<string, { place: number; quota: Quota }>();
    const wanted: number[] = [];
    for (const { quotas } of batch) {
      wanted.push(quotas.length);
      for (const quota of quotas) {
        let known = places.get(quota.key);
        if (!known) places.set(quota.key, (known = { place: places.size + 1, quota }));
        wanted.push(known.place);
      }
    }
    const counters = [...places.values()];
    try {
      const results = await this.run(counters, wanted);
      batch.forEach(({ resolve }, index) => {
        const [allowed, decisive, remaining, milliseconds] = results.slice(
          index * 4,
          index * 4 + 4,
        ) as number[];
        resolve({
          allowed: allowed === 1,
          scope: counters[decisive! - 1]!.quota.scope,
          remaining: remaining!,
          resetSeconds: Math.max(Math.ceil(milliseconds! / 1000), 1),
          counted: true,
        });
      });
    } catch {
      for (const { quotas, resolve } of batch) resolve(uncounted(quotas));
    }
  }

  private run(counters: readonly { quota: Quota }[], wanted: readonly number[]): Promise<number[]> {
    const keys = counters.map(({ quota }) => KEY_PREFIX + quota.key);
    const limits = counters.map(({ quota }) => quota.limit);
    return runScript(this.redis, SCRIPT, keys, [keys.length, ...limits, ...wanted]) as Promise<number[]>;
  }
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
