import type { Clock } from '@plinth/kernel/clock';

/** The requests of one minute, as the gateway answered them. */
interface RequestMinute {
  /** When it began. */
  at: string;
  requests: number;
  /** Answered with a server error. */
  failed: number;
  /** Answered with 429. */
  limited: number;
  meanMilliseconds: number;
}

interface Counted {
  requests: number;
  failed: number;
  limited: number;
  /** Of all requests but those whose time says nothing. */
  timed: number;
  seconds: number;
}

/** A request that was answered with a server error. */
interface RequestFailure {
  at: string;
  service: string;
  route: string;
  status: number;
  traceId: string;
}

const MINUTE = 60_000;
const MINUTES_MAX = 180;
const FAILURES_MAX = 20;

/** Counts requests by minute and service for the last three hours, in the memory of this process. */
export class RequestHistory {
  /** By minute since 1970, the oldest first. */
  private readonly minutes = new Map<number, Counted>();
  private readonly byService = new Map<string, { requests: number; failed: number }>();

  private readonly failures: RequestFailure[] = [];

  constructor(private readonly clock: Clock) {}

  /** @param seconds undefined where they say nothing of how fast it was, as of an event stream that a reader closes */
  record(service: string, status: number, seconds: number | undefined): void {
    const isFailed = status >= 500;
    const counted = this.currentMinute();
    counted.requests++;
    if (seconds !== undefined) {
      counted.timed++;
      counted.seconds += seconds;
    }
    if (isFailed) counted.failed++;
    if (status === 429) counted.limited++;
    const all = this.byService.get(service);
    if (all === undefined) this.byService.set(service, { requests: 1, failed: isFailed ? 1 : 0 });
    else {
      all.requests++;
      if (isFailed) all.failed++;
    }
  }

  /** Remembers a request that was answered with a server error, and forgets the oldest of too many. */
  recordFailure(failure: Omit<RequestFailure, 'at'>): void {
    this.failures.unshift({ at: this.clock.now().toISOString(), ...failure });
    this.failures.length = Math.min(this.failures.length, FAILURES_MAX);
  }

  /** The newest first. */
  lastFailures(): readonly RequestFailure[] {
    return this.failures;
  }

  /** Every minute of the last three hours, also those without requests, the oldest first. */
  lastMinutes(): RequestMinute[] {
    const now = this.now();
    return Array.from({ length: MINUTES_MAX }, (_, index) => {
      const minute = now - MINUTES_MAX + 1 + index;
      const { requests, failed, limited, timed, seconds } = this.minutes.get(minute) ?? nothing();
      const meanMilliseconds = timed === 0 ? 0 : Math.round((seconds / timed) * 1_000);
      return { at: new Date(minute * MINUTE).toISOString(), requests, failed, limited, meanMilliseconds };
    });
  }

  /** Requests to one service since this process started. */
  ofService(service: string): Readonly<{ requests: number; failed: number }> {
    return this.byService.get(service) ?? { requests: 0, failed: 0 };
  }

  private currentMinute(): Counted {
    const minute = this.now();
    const known = this.minutes.get(minute);
    if (known !== undefined) return known;
    const [oldest] = this.minutes.keys();
    if (oldest !== undefined && oldest <= minute - MINUTES_MAX) this.minutes.delete(oldest);
    const counted = nothing();
    this.minutes.set(minute, counted);
    return counted;
  }

  /** The minute since 1970. */
  private now(): number {
    return Math.floor(this.clock.now().getTime() / MINUTE);
  }
}

const nothing = (): Counted => ({ requests: 0, failed: 0, limited: 0, timed: 0, seconds: 0 });
