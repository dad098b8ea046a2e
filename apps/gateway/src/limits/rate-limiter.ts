import type { Redis } from 'ioredis';
import { MARK_FUNCTION, recordKeyOf, type Run } from '../idempotency/records';
import { redisScript, type RedisScript } from '../redis-script';
import { SLIDING_SUM } from '../sliding-sum';
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
  /** Whether the run of the request has its idempotency key; where not, the key is still to be claimed. */
  hasKey: boolean;
}

/** The window slides in slices: requests leave it slice by slice, and it never holds more than the limit. */
const SLICES = 20;
const SLICE_MILLISECONDS = (WINDOW_SECONDS * 1000) / SLICES;
const KEPT_MILLISECONDS = WINDOW_SECONDS * 1000 + 2 * SLICE_MILLISECONDS;

/**
 * Decides a batch of requests in one step for all gateways. Requests with the same counters are a group; as many of each
 * group are allowed as there is room for.
 *
 * KEYS: the counters, each once: a sliding sum of requests. Then the idempotency keys of requests.
 * ARGV: the number of counters, the milliseconds of a marker, the limits of the counters, then for each group the number of
 * requests, the number and the indexes of its counters, and the number of its idempotency keys with, for each, the place of
 * its request in the group, its run and its fingerprint.
 * Returns for each group: how many are allowed, the index of the decisive counter, what remains of it, milliseconds
 * until it grows. Then for each idempotency key whether its run has it now: the request is allowed, and there is no record. What
 * a record holds may be large, and others would wait for it, so it is asked for by a call of its own.
 * The clock is that of the Redis server, so that the clocks of the gateways may differ.
 */
const SCRIPT = `${SLIDING_SUM}${MARK_FUNCTION}
local counterCount = tonumber(ARGV[1])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local slice = math.floor(now / ${SLICE_MILLISECONDS})
local counters = {}
for i = 1, counterCount do
  local counter = readSum(KEYS[i], slice, ${SLICES}, ${KEPT_MILLISECONDS})
  counter.added = 0
  counter.limit = tonumber(ARGV[i + 2])
  counters[i] = counter
end
local results = {}
local marks = {}
local at = counterCount + 3
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
  local keys = tonumber(ARGV[at])
  at = at + 1
  for k = 1, keys do
    local isAllowed = tonumber(ARGV[at]) < passing
    local key = KEYS[counterCount + #marks + 1]
    local isMarked = isAllowed and mark(key, ARGV[at + 1], ARGV[at + 2], ARGV[2])
    marks[#marks + 1] = isMarked and 1 or 0
    at = at + 3
  end
end
for i = 1, #marks do results[#results + 1] = marks[i] end
for i = 1, counterCount do
  if counters[i].added > 0 then addToSum(KEYS[i], slice, counters[i].added) end
end
return results
`;

/** Waiting requests with the same counters. */
interface Group {
  quotas: readonly Quota[];
  resolves: ((decision: Decision) => void)[];
  /** The runs of those with an idempotency key, and the places of their requests in the group. */
  runs: { place: number; run: Run }[];
}

const BATCH_GROUPS_MAX = 256;
/** Further ones claim their keys by calls of their own, since nothing else is done in Redis while a script runs. */
const BATCH_RUNS_MAX = 256;
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
  private waitingRuns = 0;
  private isRunning = false;
  private uncountedUntil = 0;

  private readonly script: RedisScript;

  /** @param markerMilliseconds of idempotency keys; without it they are in another Redis */
  constructor(
    redis: Redis,
    private readonly markerMilliseconds?: number,
  ) {
    this.script = redisScript(redis, 'plinthDecide', SCRIPT);
  }

  /**
   * Counts a request.
   * @param run claims its idempotency key in the same call of Redis, where the request is allowed and the key is new
   */
  consume(quotas: readonly Quota[], run?: Run): Promise<Decision> {
    if (performance.now() < this.uncountedUntil) return Promise.resolve(uncounted(quotas));
    return new Promise((resolve) => {
      const group = this.groupOf(quotas);
      const place = group.resolves.push(resolve) - 1;
      if (run && this.markerMilliseconds !== undefined && this.waitingRuns < BATCH_RUNS_MAX) {
        group.runs.push({ place, run });
        this.waitingRuns++;
      }
      this.scheduleRun();
    });
  }

  private groupOf(quotas: readonly Quota[]): Group {
    const { key } = quotas[0]!;
    let group = this.waiting.get(key);
    if (!group) this.waiting.set(key, (group = { quotas, resolves: [], runs: [] }));
    return group;
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
    this.leave(groups.slice(BATCH_GROUPS_MAX));
    return groups.slice(0, BATCH_GROUPS_MAX).map(([, group]) => group);
  }

  private leave(groups: readonly [string, Group][]): void {
    this.waiting = new Map(groups);
    this.waitingRuns = groups.reduce((sum, [, { runs }]) => sum + runs.length, 0);
  }

  private async decide(groups: readonly Group[]): Promise<void> {
    const indexes = new Map<string, number>();
    const counters: Quota[] = [];
    const claimed: Run[] = [];
    const wanted: (number | string)[] = [];
    for (const { quotas, resolves, runs } of groups) {
      wanted.push(resolves.length, quotas.length);
      for (const quota of quotas) {
        let index = indexes.get(quota.key);
        if (index === undefined) indexes.set(quota.key, (index = counters.push(quota)));
        wanted.push(index);
      }
      wanted.push(runs.length);
      for (const { place, run } of runs) {
        claimed.push(run);
        wanted.push(place, run.run, run.fingerprint);
      }
    }
    try {
      const results = await this.run(counters, claimed, wanted);
      const marks = results.slice(groups.length * 4);
      groups.forEach((group, index) => {
        const decided = results.slice(index * 4, index * 4 + 4);
        resolveGroup(group, counters, decided, marks.splice(0, group.runs.length));
      });
    } catch {
      this.uncountedUntil = performance.now() + REDIS_RETRY_MILLISECONDS;
      // Those that came meanwhile have waited already, and are not made to wait for the next one to fail.
      const late = [...this.waiting.values()];
      this.leave([]);
      for (const { quotas, resolves } of [...groups, ...late])
        resolves.forEach((resolve) => resolve(uncounted(quotas)));
    }
  }

  private run(
    counters: readonly Quota[],
    claimed: readonly Run[],
    wanted: readonly (number | string)[],
  ): Promise<number[]> {
    const keys = [...counters.map(({ key }) => KEY_PREFIX + key), ...claimed.map(recordKeyOf)];
    const limits = counters.map(({ limit }) => limit);
    const values = [counters.length, this.markerMilliseconds ?? 0, ...limits, ...wanted];
    return this.script(keys, values) as Promise<number[]>;
  }
}

/** The first requests of a group are allowed, each leaving one less. */
function resolveGroup(
  { resolves, runs }: Group,
  counters: readonly Quota[],
  decided: readonly number[],
  marks: readonly number[],
): void {
  const [passing, decisive, remaining, milliseconds] = decided as [number, number, number, number];
  const { scope } = counters[decisive - 1]!;
  const resetSeconds = Math.max(Math.ceil(milliseconds / 1000), 1);
  const havingKey = new Set(runs.filter((_, index) => marks[index] === 1).map(({ place }) => place));
  resolves.forEach((resolve, index) => {
    const left = Math.max(passing - 1 - index, 0);
    const allowed = index < passing;
    const hasKey = havingKey.has(index);
    resolve({ allowed, scope, remaining: remaining + left, resetSeconds, counted: true, hasKey });
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
    hasKey: false,
  };
}
