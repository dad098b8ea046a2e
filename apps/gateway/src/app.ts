import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { internalProblem } from '@plinth/conventions/problem-details';
import { Problem } from '@plinth/kernel/problem';
import type { Log } from '@plinth/runtime/log';
import type { Cors } from './cors';
import { Exchange } from './exchange';
import { forward, type ForwardDeps } from './forward';
import { requireSaneFraming } from './framing';
import type { Credentials, Identity } from './identity/credential';
import { addressOf, limitRequest, tooManyRequests } from './limits/limit-request';
import type { RateLimits } from './limits/policies';
import type { RateLimiter } from './limits/rate-limiter';
import type { GatewayMetrics } from './metrics';
import type { Pages } from './pages/pages';
import type { Destination, Routes } from './route-table';
import { parseTarget } from './target';
import type { Spans } from './trace';
import type { Versions } from './versions';

export interface Deps extends ForwardDeps {
  publicUrl: string;
  trustedProxies: number;
  routes: Routes;
  versions: Versions;
  cors: Cors;
  credentials: Credentials;
  rateLimits: RateLimits;
  limiter: RateLimiter;
  pages: Pages;
  metrics: GatewayMetrics;
  spans: Spans;
  log: Log;
}

/** The only public door: every request of every client goes through `handle`, top to bottom. */
export function createGateway(deps: Deps): RequestListener {
  return (request, response) => {
    const startedAt = performance.now();
    const exchange = open(request, response, deps);
    response.once('close', () => close(exchange, (performance.now() - startedAt) / 1000, deps));
    handle(exchange, deps).catch((error: unknown) => fail(exchange, error, deps));
  };
}

/** Collects what belongs on every answer, whatever happens next. */
function open(request: IncomingMessage, response: ServerResponse, deps: Deps): Exchange {
  const trace = deps.spans.begin(request.headers['traceparent'] as string | undefined);
  const exchange = new Exchange(request, response, trace, deps.publicUrl, [
    ...deps.versions.reporting,
    'x-request-id',
    trace.traceId,
    'x-content-type-options',
    'nosniff',
  ]);
  return exchange;
}

/** What is left of a request when it is over: numbers, a span, and a line in the log that names no bodies and no tokens. */
function close(exchange: Exchange, seconds: number, { metrics, spans, log }: Deps): void {
  metrics.answered(exchange, seconds);
  spans.end(exchange);
  if (!log.isLevelEnabled('debug')) return;
  const { method, area, route, trace, response } = exchange;
  log.debug(
    { method, area, route, status: response.statusCode, seconds, traceId: trace.traceId },
    'answered',
  );
}

async function handle(exchange: Exchange, deps: Deps): Promise<void> {
  if (answerPreflight(exchange, deps.cors)) return;
  exchange.add(deps.cors.headers(exchange.request.headers.origin));
  requireSaneFraming(exchange);

  const target = parseTarget(exchange.request.url ?? '/');
  const page = deps.pages.find(target.path);
  if (page?.unlimited) return deps.pages.serve(exchange, page);
  const destination = page
    ? undefined
    : find(exchange, deps, () => deps.routes.find(exchange.method, target));

  const identity = await identify(exchange, deps.credentials);
  await limit(exchange, identity, destination, deps);
  if (page) return deps.pages.serve(exchange, page);
  if (destination instanceof Problem) return answerOptions(exchange, destination);

  const { access } = destination!.route.endpoint;
  if (identity instanceof Problem && access.type !== 'anonymous') throw identity;
  await forward(exchange, destination!, identity instanceof Problem ? undefined : identity, deps);
}

/** Answers a preflight without asking who it is; true when it was one. */
function answerPreflight(exchange: Exchange, cors: Cors): boolean {
  const { method, headers } = exchange.request;
  const {
    origin,
    'access-control-request-method': wanted,
    'access-control-request-headers': names,
  } = headers;
  if (method !== 'OPTIONS' || origin === undefined || wanted === undefined) return false;
  exchange.route = 'preflight';
  const vary = ['vary', 'Access-Control-Request-Method, Access-Control-Request-Headers'];
  exchange.send({ status: 204, headers: [...cors.preflight(origin, names), ...vary], body: undefined });
  return true;
}

/** OPTIONS at an address that exists tells its methods; everything else that goes nowhere is a problem. */
function answerOptions(exchange: Exchange, problem: Problem): void {
  const { allow } = problem.options;
  if (exchange.method !== 'OPTIONS' || !allow) throw problem;
  exchange.send({ status: 204, headers: ['allow', allow.join(', ')], body: undefined });
}

/** Where the request goes. That it goes nowhere is said only after it was counted. */
function find(exchange: Exchange, { versions }: Deps, search: () => Destination): Destination | Problem {
  try {
    const destination = search();
    exchange.area = destination.route.area;
    exchange.route = destination.route.name;
    if (destination.deprecated) exchange.add(versions.deprecation(destination.deprecated));
    return destination;
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

async function identify(
  exchange: Exchange,
  credentials: Credentials,
): Promise<Identity | Problem | undefined> {
  if (exchange.request.headers.authorization === undefined) return undefined;
  try {
    return await credentials.identify(exchange.valuesOf('authorization'));
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

async function limit(
  exchange: Exchange,
  identity: Identity | Problem | undefined,
  destination: Destination | Problem | undefined,
  deps: Deps,
): Promise<void> {
  const isKnown = identity !== undefined && !(identity instanceof Problem);
  const subject = isKnown ? identity : { address: addressOf(exchange.request, deps.trustedProxies) };
  const rateClass =
    destination && 'route' in destination ? destination.route.endpoint.rateLimitClass : undefined;
  const decision = await limitRequest(exchange, subject, rateClass ?? 'default', deps);
  deps.metrics.limited(decision);
  if (!decision.allowed) throw tooManyRequests(decision);
}

function fail(exchange: Exchange, error: unknown, { log }: Deps): void {
  const problem = error instanceof Problem ? error : internalProblem(error);
  const isOurs = ['internal', 'overloaded', 'upstream'].includes(problem.kind);
  if (isOurs && !exchange.response.destroyed) {
    const { area, route, trace } = exchange;
    log.warn({ err: problem.options.cause ?? problem, area, route, traceId: trace.traceId }, problem.detail);
  }
  if (exchange.response.headersSent) exchange.response.destroy();
  else exchange.sendProblem(problem);
}
