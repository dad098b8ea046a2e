import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { RequestContext } from './request-context';
import type { RefusalReason } from './identity/refusal';
import type { Decision } from './limits/rate-limiter';
import type { Upstream } from './proxy/upstream';
import type { RequestHistory } from './request-history';

const BREAKER_STATES = { Closed: 0, HalfOpen: 1, Open: 2 } as const;

/** What operators see of the gateway, beside the metrics of every process. */
export class GatewayMetrics {
  readonly idempotency: Counter<'outcome'>;
  readonly unstored: Counter<'scope'>;
  private readonly duration: Histogram<'area' | 'route' | 'status'>;
  readonly limits: Counter<'scope' | 'decision'>;
  private readonly aborted: Counter<'area' | 'route'>;
  private readonly refusals: Counter<'reason'>;

  constructor(
    registry: Registry,
    upstreams: () => Iterable<Upstream>,
    private readonly history: RequestHistory,
  ) {
    const registers = [registry];
    this.duration = new Histogram({
      name: 'plinth_gateway_request_duration_seconds',
      help: 'Time from the head of a request to the end of its response.',
      labelNames: ['area', 'route', 'status'],
      buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25],
      registers,
    });
    this.limits = new Counter({
      name: 'plinth_gateway_rate_limit_decisions_total',
      help: 'Requests allowed, refused, or allowed without being counted while Redis was unavailable.',
      labelNames: ['scope', 'decision'],
      registers,
    });
    this.idempotency = new Counter({
      name: 'plinth_gateway_idempotency_outcomes_total',
      help: 'State in which a request found the record of its idempotency key.',
      labelNames: ['outcome'],
      registers,
    });
    this.unstored = new Counter({
      name: 'plinth_gateway_idempotency_unstored_total',
      help: 'Responses that were not stored for replay, by whose share of the stored bytes was used up.',
      labelNames: ['scope'],
      registers,
    });
    this.aborted = new Counter({
      name: 'plinth_gateway_unfinished_responses_total',
      help: 'Responses that were cut off, not counting streams of events: the client disconnected, or the service died.',
      labelNames: ['area', 'route'],
      registers,
    });
    this.refusals = new Counter({
      name: 'plinth_gateway_refused_credentials_total',
      help: 'Tokens and API keys that were refused, by reason.',
      labelNames: ['reason'],
      registers,
    });
    new Gauge({
      name: 'plinth_gateway_breaker_state',
      help: '0 closed, 1 half-open, 2 open.',
      labelNames: ['area'],
      registers,
      collect() {
        for (const { service: area, breaker } of upstreams())
          this.set({ area }, BREAKER_STATES[breaker.state]);
      },
    });
    new Gauge({
      name: 'plinth_gateway_requests_in_flight',
      help: 'Requests that a service is processing.',
      labelNames: ['area', 'kind'],
      registers,
      collect() {
        for (const upstream of upstreams()) {
          for (const kind of ['calls', 'streams'] as const)
            this.set({ area: upstream.service, kind }, upstream.running(kind));
        }
      },
    });
  }

  finished(context: RequestContext, seconds: number): void {
    const { service: area, route, response, trace } = context;
    const isEvents = context.isForEvents && response.statusCode < 400;
    this.duration.observe({ area, route, status: response.statusCode }, seconds);
    this.history.record(area, response.statusCode, isEvents ? undefined : seconds);
    if (response.statusCode >= 500)
      this.history.recordFailure({
        service: area,
        route,
        status: response.statusCode,
        traceId: trace.traceId,
      });
    if (!isEvents && !response.writableFinished) this.aborted.inc({ area, route });
  }

  refused(reason: RefusalReason): void {
    this.refusals.inc({ reason });
  }

  limited({ scope, allowed, counted }: Decision): void {
    this.limits.inc({ scope, decision: !counted ? 'uncounted' : allowed ? 'allowed' : 'refused' });
  }
}
