import { Agent } from 'node:http';
import { Pool } from 'undici';
import type { Clock } from '@plinth/kernel/clock';
import type { Problem } from '@plinth/kernel/problem';
import { platformProblems } from '@plinth/contracts/platform/problems';
import { Breaker } from './breaker';

export interface UpstreamSettings {
  /** Requests to one area at the same time; what comes on top is refused at once. */
  concurrencyMax: number;
  /** Uploads, downloads and event streams to one area at the same time. */
  streamsMax: number;
  /** So long a service may take until its answer begins. */
  timeoutMilliseconds: number;
  /** The same for what is known to take long. */
  slowTimeoutMilliseconds: number;
  breakerFailuresMax: number;
  breakerOpenMilliseconds: number;
}

/**
 * Shorter than a service that is about to stop goes on: so it never closes a connection that is about to be used, and
 * a write, which is not tried again, is never lost by that.
 */
const UNUSED_MILLISECONDS_MAX = 3_000;
const RETRY_BUDGET_MAX = 10;
const RETRY_BUDGET_PER_REQUEST = 0.1;

/** One area's service, kept apart from the others so that a slow one slows nobody else. */
export class Upstream {
  readonly pool: Pool;
  readonly agent = new Agent({ keepAlive: true, maxFreeSockets: 32, timeout: UNUSED_MILLISECONDS_MAX });
  readonly breaker: Breaker;
  calls = 0;
  streams = 0;
  private retryBudget = RETRY_BUDGET_MAX;

  constructor(
    readonly area: string,
    readonly origin: string,
    readonly settings: UpstreamSettings,
    clock: Clock,
  ) {
    this.pool = new Pool(origin, {
      connections: settings.concurrencyMax,
      pipelining: 1,
      keepAliveTimeout: UNUSED_MILLISECONDS_MAX,
      keepAliveMaxTimeout: UNUSED_MILLISECONDS_MAX,
      connect: { timeout: 2_000 },
      headersTimeout: settings.timeoutMilliseconds,
      bodyTimeout: settings.timeoutMilliseconds,
    });
    this.breaker = new Breaker(
      { failuresMax: settings.breakerFailuresMax, openMilliseconds: settings.breakerOpenMilliseconds },
      clock,
    );
  }

  /**
   * Takes a place for one request; call the result when it ended.
   * @throws Problem `overloaded` when there is none, `area-unavailable` while the service is being spared.
   */
  enter(kind: 'calls' | 'streams'): () => void {
    const max = kind === 'calls' ? this.settings.concurrencyMax : this.settings.streamsMax;
    if (this[kind] >= max) {
      throw platformProblems.overloaded(`Too many requests to ${this.area} are being worked on.`, {
        retryAfterSeconds: 1,
      });
    }
    if (!this.breaker.admits()) throw this.unavailable();
    this[kind] += 1;
    this.retryBudget = Math.min(this.retryBudget + RETRY_BUDGET_PER_REQUEST, RETRY_BUDGET_MAX);
    return () => {
      this[kind] -= 1;
    };
  }

  /** Whether one more try is within the budget: retries add at most a tenth to the load. */
  mayRetry(): boolean {
    if (this.retryBudget < 1) return false;
    this.retryBudget -= 1;
    return true;
  }

  /** Problems name the area, never the host. */
  unavailable(cause?: unknown): Problem {
    return platformProblems['area-unavailable'](`${this.area} is not available now.`, {
      retryAfterSeconds: 2,
      cause,
    });
  }

  timedOut(cause?: unknown): Problem {
    return platformProblems['area-timed-out'](`${this.area} did not answer in time.`, {
      retryAfterSeconds: 5,
      cause,
    });
  }

  /** Asks the service whether it is ready. */
  async check(): Promise<void> {
    const { statusCode, body } = await this.pool.request({
      method: 'GET',
      path: '/readyz',
      headersTimeout: 2_000,
    });
    await body.dump();
    if (statusCode !== 200) throw new Error(`${this.area} is not ready.`);
  }

  async close(): Promise<void> {
    this.agent.destroy();
    await this.pool.destroy();
  }
}
