import { Agent, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { Pool } from 'undici';
import { FairShares, type ShareOwner } from '@plinth/kernel/fair-shares';
import type { Clock } from '@plinth/kernel/clock';
import type { Problem } from '@plinth/kernel/problem';
import { platformProblems, shareUsedUp } from '@plinth/contracts/platform/problems';
import { ServiceState } from '@plinth/contracts/platform/operations-shapes';
import type { Caller } from '@plinth/kernel/caller';
import { BUSY_HEADER } from '@plinth/runtime/process/event-loop-load';
import type { LeastRate } from '@plinth/runtime/process/least-rate';
import { CALLER_HEADER, hashOf, signCaller } from '@plinth/runtime/rpc/signed-caller';
import { Breaker } from './breaker';
import { RequestTurns } from './request-turns';

export interface UpstreamSettings {
  /** Requests to one service at the same time; more are refused at once. */
  concurrencyMax: number;
  /** Uploads, downloads and event streams to one service at the same time. */
  streamsMax: number;
  /** Short requests that a service has at the same time while several tenants use it. */
  turns: number;
  /** How long a service may take until its response begins. */
  timeoutMilliseconds: number;
  /** The same for endpoints that are known to be slow. */
  slowTimeoutMilliseconds: number;
  /** How slowly the body of an upload may arrive. */
  uploadRateMin: LeastRate;
  breakerFailuresMax: number;
  breakerOpenMilliseconds: number;
}

/**
 * Shorter than the time that a stopping service continues to serve: so it never closes a connection that is about to be
 * used, and no write, which would not be retried, is lost by that.
 */
const UNUSED_MILLISECONDS_MAX = 3_000;
const RETRY_BUDGET_MAX = 10;
const RETRY_BUDGET_PER_REQUEST = 0.1;

/** Requests with one response, or uploads, downloads and event streams, which last. */
export type RequestKind = 'calls' | 'streams';

/** A call that takes longer waits for something else than the processor of its service, unless that says it is busy. */
const CALL_TURN_MILLISECONDS = 100;
const BODY_TURN_MILLISECONDS = 250;
/** For so long a service is taken to be busy that has said so. */
const BUSY_MILLISECONDS = 1_000;
/** How much more of a service and of the gateway an upload and a large body take than a call. */
const CALLS_PER_UPLOAD = 4;
const CALLS_PER_LARGE_BODY = 6;

/** A service as the gateway sees it, with its own connections, so that a slow service does not slow others. */
export class Upstream {
  readonly pool: Pool;
  readonly agent = new Agent({ keepAlive: true, maxFreeSockets: 32, timeout: UNUSED_MILLISECONDS_MAX });
  readonly breaker: Breaker;
  /** Whose turn it is while several tenants use the service. */
  readonly turns: Readonly<Record<'calls' | 'largeBodies' | 'uploads', RequestTurns>>;
  private readonly calls: FairShares;
  private readonly streams: FairShares;
  private retryBudget = RETRY_BUDGET_MAX;
  private busyUntil = -Infinity;

  constructor(
    readonly service: string,
    readonly origin: string,
    readonly settings: UpstreamSettings,
    private readonly clock: Clock,
  ) {
    this.calls = new FairShares(settings.concurrencyMax);
    this.streams = new FairShares(settings.streamsMax);
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
    const { turns } = settings;
    const isBusy = (): boolean => clock.now().getTime() < this.busyUntil;
    this.turns = {
      calls: new RequestTurns({ count: turns, turnMilliseconds: CALL_TURN_MILLISECONDS, isBusy }, clock),
      largeBodies: new RequestTurns(
        {
          count: Math.ceil(turns / CALLS_PER_LARGE_BODY),
          turnMilliseconds: BODY_TURN_MILLISECONDS,
          isBusy,
          waitingMax: settings.concurrencyMax,
        },
        clock,
      ),
      uploads: new RequestTurns(
        { count: Math.ceil(turns / CALLS_PER_UPLOAD), turnMilliseconds: BODY_TURN_MILLISECONDS, isBusy },
        clock,
      ),
    };
  }

  /**
   * Admits one request; call the result when it has ended.
   * @throws Problem `share-used-up` when too many of its owner are running, `overloaded` when too many of all are,
   * `area-unavailable` while the breaker is open.
   */
  enter(kind: RequestKind, owner: ShareOwner): () => void {
    const shares = this[kind];
    const refusal = shares.take(owner);
    if (refusal) {
      const what = kind === 'calls' ? 'requests' : 'uploads, downloads or event streams';
      throw shareUsedUp(refusal, `${what} of the ${this.service} service`);
    }
    const leave = (): void => shares.give(owner);
    if (!this.breaker.admits()) {
      leave();
      throw this.unavailable();
    }
    this.retryBudget = Math.min(this.retryBudget + RETRY_BUDGET_PER_REQUEST, RETRY_BUDGET_MAX);
    return leave;
  }

  /**
   * Admits one request as `enter` does, and waits for its turn beside those of other tenants.
   * @param client the response whose `close` gives the waiting up; without it the request outlives its client
   * @throws Problem as `enter`, and `timed-out` where the client disconnected
   */
  enterInTurn(
    kind: 'calls' | 'uploads',
    owner: ShareOwner,
    client?: ServerResponse,
  ): (() => void) | Promise<() => void> {
    const leave = this.enter(kind === 'uploads' ? 'streams' : kind, owner);
    const inTurn = (endTurn: () => void) => (): void => {
      endTurn();
      leave();
    };
    const turn = this.turns[kind].begin(owner, client);
    if (!(turn instanceof Promise)) return inTurn(turn);
    return turn.then(inTurn, (error: unknown) => {
      this.breaker.abandoned();
      leave();
      throw error;
    });
  }

  /** The service responded, and may say that it is busy. */
  responded(headers: IncomingHttpHeaders): void {
    this.breaker.succeeded();
    if (headers[BUSY_HEADER] !== undefined) this.busyUntil = this.clock.now().getTime() + BUSY_MILLISECONDS;
  }

  /** How many are running now. */
  running(kind: RequestKind): number {
    return this[kind].usedAmount;
  }

  /** Whether another retry is within the budget: retries add at most a tenth to the load. */
  mayRetry(): boolean {
    if (this.retryBudget < 1) return false;
    this.retryBudget -= 1;
    return true;
  }

  /** Problems name the service, never the host. */
  unavailable(cause?: unknown): Problem {
    return platformProblems['area-unavailable'](`The ${this.service} service is unavailable.`, {
      retryAfterSeconds: 2,
      cause,
    });
  }

  timedOut(cause?: unknown): Problem {
    return platformProblems['area-timed-out'](`The ${this.service} service did not respond in time.`, {
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
    if (statusCode !== 200) throw new Error(`The ${this.service} service is not ready.`);
  }

  /** What the service says of itself; undefined where it does not respond. */
  async state(): Promise<ServiceState | undefined> {
    try {
      const { body } = await this.pool.request({ method: 'GET', path: '/state', headersTimeout: 3_000 });
      return ServiceState.parse(await body.json());
    } catch {
      return undefined;
    }
  }

  /**
   * Asks the service for what is no endpoint of it, on behalf of an operator.
   * @throws Problem `area-timed-out` where the response is not there in time, so that what was asked for may still be done;
   * `area-unavailable` where it does not respond at all, or with an error.
   */
  async ask(
    { method, path, caller, body }: { method: 'GET' | 'POST'; path: string; caller: Caller; body?: object },
    keys: readonly string[],
    millisecondsMax = this.settings.timeoutMilliseconds,
  ): Promise<unknown> {
    const signal = AbortSignal.timeout(millisecondsMax);
    const text = body && JSON.stringify(body);
    const bodyHash = text === undefined ? undefined : hashOf(Buffer.from(text));
    const { tenantId } = caller;
    const signed = signCaller({ caller, tenantId, method, path, instance: path, bodyHash }, keys);
    try {
      const response = await this.pool.request({
        method,
        path,
        signal,
        // Only the signal ends the call: what ended it before would not be known for a time-out.
        headersTimeout: 0,
        bodyTimeout: 0,
        headers: {
          [CALLER_HEADER]: signed,
          ...(text !== undefined && { 'content-type': 'application/json' }),
        },
        ...(text !== undefined && { body: text }),
      });
      const content = await response.body.json();
      if (response.statusCode !== 200) throw new Error(JSON.stringify(content));
      return content;
    } catch (error) {
      throw signal.aborted ? this.timedOut(error) : this.unavailable(error);
    }
  }

  async close(): Promise<void> {
    this.agent.destroy();
    await this.pool.destroy();
  }
}
