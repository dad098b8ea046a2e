import type { Quota } from './policies';
import type { Decision } from './rate-limiter';

/** What one caller was counted in the current slice, by this gateway. */
interface Reserve extends Granted {
  quotas: readonly Quota[];
}

/** What Redis said of requests with the same counters. */
interface Granted extends Pick<Decision, 'scope'> {
  /** How many were made. */
  made: number;
  /** How many more were counted. */
  ahead: number;
  /** What is left of the quota that runs out first, without those that were counted ahead. */
  remaining: number;
  /** When the quota grows. */
  growsAt: number;
}

/** What was counted in a slice and not used, by the key of the counter. */
export interface Returned {
  slice: number;
  amounts: ReadonlyMap<string, number>;
}

/**
 * Requests that were counted in Redis before they came: a caller is counted ahead as many as it has sent in this slice of
 * the window, so that sixty of them take six calls of Redis and a thousand take ten. They are valid within their slice,
 * where it makes no difference to the window when they come, and what is left of them then is given back.
 */
export class Reserves {
  /** Of this slice, by the key of the first counter. */
  private reserves = new Map<string, Reserve>();
  private slice = 0;
  private endsAt = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly giveBack: (returned: Returned) => void) {}

  /** Takes a request that was counted ahead; undefined where there is none. */
  take(key: string, now: number): Decision | undefined {
    if (now >= this.endsAt) this.end();
    const reserve = this.reserves.get(key);
    if (reserve === undefined || reserve.ahead === 0) return undefined;
    reserve.ahead--;
    reserve.made++;
    const { scope, remaining, ahead, growsAt } = reserve;
    const resetSeconds = secondsUntil(growsAt, now);
    return { allowed: true, scope, remaining: remaining + ahead, resetSeconds, counted: true };
  }

  /** How many requests of a caller are worth counting ahead. */
  wantedBy(key: string): number {
    return this.reserves.get(key)?.made ?? 0;
  }

  /** Notes the slice that requests are counted in from now on. */
  begin(slice: number, endsAt: number): void {
    if (slice !== this.slice) this.end();
    this.slice = slice;
    this.endsAt = endsAt;
  }

  add(quotas: readonly Quota[], granted: Granted): void {
    const { key } = quotas[0]!;
    const reserve = this.reserves.get(key);
    this.reserves.set(key, {
      ...granted,
      quotas,
      made: granted.made + (reserve?.made ?? 0),
      ahead: granted.ahead + (reserve?.ahead ?? 0),
    });
    this.timer ??= setTimeout(() => this.end(), this.endsAt - performance.now()).unref();
  }

  private end(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const amounts = new Map<string, number>();
    for (const { quotas, ahead } of this.reserves.values()) {
      if (ahead === 0) continue;
      for (const { key } of quotas) amounts.set(key, (amounts.get(key) ?? 0) + ahead);
    }
    if (this.reserves.size > 0) this.reserves = new Map();
    if (amounts.size > 0) this.giveBack({ slice: this.slice, amounts });
  }
}

/** At least one, so that nobody tries again at once. */
export const secondsUntil = (growsAt: number, now: number): number =>
  Math.max(Math.ceil((growsAt - now) / 1000), 1);
