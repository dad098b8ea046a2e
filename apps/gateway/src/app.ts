import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { gatherChunks } from '@plinth/http/gather-chunks';
import { internalProblem } from '@plinth/http/problem-details';
import { Problem } from '@plinth/kernel/problem';
import type { Log } from '@plinth/runtime/process/log';
import type { Cors } from './cors';
import { RequestContext } from './request-context';
import { admit, beginArrivedOperation, forward, type Admission, type ForwardDeps } from './forward';
import { requireSaneFraming } from './framing';
import type { Run } from './idempotency/records';
import type { Credentials } from './identity/credential';
import type { Identity } from './identity/identity';
import { refusalOf } from './identity/refusal';
import { addressOf, limitHeaders, tooManyRequests } from './limits/limit-request';
import type { OpenRequests } from './limits/open-requests';
import type { Policies } from './limits/policies';
import type { Decision, RateLimiter } from './limits/rate-limiter';
import type { GatewayMetrics } from './metrics';
import type { Pages } from './pages/pages';
import type { Destination, Routes } from './route-table';
import { parseTarget, type Target } from './target';
import type { Spans } from './trace';
import type { Versions } from './versions';

export interface Deps extends ForwardDeps {
  publicUrl: string;
  routes: Routes;
  versions: Versions;
  cors: Cors;
  credentials: Credentials;
  policies: Policies;
  limiter: RateLimiter;
  openRequests: OpenRequests;
  pages: Pages;
  metrics: GatewayMetrics;
  spans: Spans;
  log: Log;
}

/** The only public door: every request of every client goes through `handle`, top to bottom. */
export function createGateway(deps: Deps): RequestListener {
  return (request, response) => {
    const startedAt = performance.now();
    const context = createContext(request, response, deps);
    gatherChunks(request, (problem) => {
      if (response.headersSent) response.destroy();
      else context.sendProblem(problem);
    });
    response.once('close', () => record(context, (performance.now() - startedAt) / 1000, deps));
    handle(context, deps).catch((error: unknown) => fail(context, error, deps));
  };
}

/** The headers of every response are collected first, so that problems have them too. */
function createContext(request: IncomingMessage, response: ServerResponse, deps: Deps): RequestContext {
  const trace = deps.spans.begin(request.headers['traceparent'] as string | undefined);
  return new RequestContext(request, response, trace, deps.publicUrl, [
    ...deps.versions.reporting,
    'x-request-id',
    trace.traceId,
    'x-content-type-options',
    'nosniff',
  ]);
}

/** Records a finished request: metrics, a span, and a log line without bodies and tokens. */
function record(context: RequestContext, seconds: number, { metrics, spans, log }: Deps): void {
  const { method, service, route, trace, response, identity } = context;
  const attributes = { method, area: service, route, status: response.statusCode };
  metrics.finished(context, seconds);
  spans.end(trace, attributes);
  if (response.statusCode === 403) {
    const { userId, tenantId, apiKeyId } = identity ?? {};
    log.info({ ...attributes, userId, tenantId, apiKeyId, traceId: trace.traceId }, 'access refused');
  }
  if (log.isLevelEnabled('debug'))
    log.debug({ ...attributes, seconds, traceId: trace.traceId }, 'request finished');
}

async function handle(context: RequestContext, deps: Deps): Promise<void> {
  const refusal = deps.openRequests.enter(context.request, context.response);
  if (refusal) throw refusal;
  if (sendPreflightResponse(context, deps.cors)) return;
  context.addHeaders(deps.cors.headers(context.request.headers.origin));
  requireSaneFraming(context);

  const target = readTarget(context);
  const page = target instanceof Problem ? undefined : deps.pages.find(target.path);
  if (page?.unlimited) return deps.pages.serve(context, page);
  const destination = page ? undefined : find(context, deps, target);

  const identity = await identify(context, deps);
  const admission = page ? undefined : admitted(context, destination, identity, deps);
  const arrived =
    admission && !(admission instanceof Problem)
      ? beginArrivedOperation(context, admission, deps)
      : undefined;
  const { hasKey, counted } = await limit(context, identity, destination, deps, arrived?.run);
  if (identity instanceof Problem) recordRefusal(context, identity, deps);
  else context.identity = identity;
  if (page) return deps.pages.serve(context, page, identity);
  if (destination instanceof Problem) return sendAllowedMethods(context, destination);

  if (admission instanceof Problem) throw admission;
  // Whoever disconnected meanwhile is not told of by any further `close`. An operation that has its key outlives its client.
  if (context.response.destroyed && !hasKey) {
    if (arrived && !counted) deps.guard.abandon(arrived.run);
    return;
  }
  await forward(context, admission!, deps, arrived && { ...arrived, hasKey });
}

/** Responds to a preflight, which has no credential; true when the request was one. */
function sendPreflightResponse(context: RequestContext, cors: Cors): boolean {
  const { method, headers } = context.request;
  const {
    origin,
    'access-control-request-method': wanted,
    'access-control-request-headers': names,
  } = headers;
  if (method !== 'OPTIONS' || origin === undefined || wanted === undefined) return false;
  context.route = 'preflight';
  const vary = ['vary', 'Access-Control-Request-Method, Access-Control-Request-Headers'];
  context.send({ status: 204, headers: [...cors.preflight(origin, names), ...vary], body: undefined });
  return true;
}

/** The response to OPTIONS lists the methods of a resource; every other request without a destination is a problem. */
function sendAllowedMethods(context: RequestContext, problem: Problem): void {
  const { allow } = problem.options;
  if (context.method !== 'OPTIONS' || !allow) throw problem;
  context.send({ status: 204, headers: ['allow', allow.join(', ')], body: undefined });
}

/** The target of the request; a problem is returned, not thrown, so that the request is counted first. */
function readTarget({ request }: RequestContext): Target | Problem {
  try {
    return parseTarget(request.url ?? '/');
  } catch (error) {
    return problemIn(error);
  }
}

/** Where the request goes. A problem is returned, not thrown, so that the request is counted first. */
function find(
  context: RequestContext,
  { versions, routes }: Deps,
  target: Target | Problem,
): Destination | Problem {
  if (target instanceof Problem) return target;
  try {
    const destination = routes.find(context.method, target);
    context.service = destination.route.service;
    context.route = destination.route.name;
    if (destination.deprecated) context.addHeaders(versions.deprecation(destination.deprecated));
    return destination;
  } catch (error) {
    return problemIn(error);
  }
}

/** Whose request it is; a problem is returned, not thrown, so that the request is counted first. */
function identify(
  context: RequestContext,
  deps: Deps,
): Identity | Problem | undefined | Promise<Identity | Problem> {
  const { request } = context;
  if (request.headers.authorization === undefined) return undefined;
  const sent = { headers: context.valuesOf('authorization'), connection: request.socket };
  try {
    const identity = deps.credentials.identify(sent, () => limitUnknownKey(context, deps));
    return identity instanceof Promise ? identity.catch(problemIn) : identity;
  } catch (error) {
    return problemIn(error);
  }
}

/** Whether its service may get the request; a problem is returned, not thrown, so that the request is counted first. */
function admitted(
  context: RequestContext,
  destination: Destination | Problem | undefined,
  identity: Identity | Problem | undefined,
  deps: Deps,
): Admission | Problem | undefined {
  if (!destination || destination instanceof Problem) return undefined;
  const isRefused = identity instanceof Problem;
  if (isRefused && destination.route.endpoint.access.type !== 'anonymous') return identity;
  try {
    return admit(context, destination, isRefused ? undefined : identity, deps);
  } catch (error) {
    return problemIn(error);
  }
}

function problemIn(error: unknown): Problem {
  if (error instanceof Problem) return error;
  throw error;
}

/** Counts the look-up of an API key that was not seen lately by its address, so that keys cannot be tried. */
async function limitUnknownKey(
  { request }: RequestContext,
  { limiter, policies, trustedProxies }: Deps,
): Promise<void> {
  const address = addressOf(request, trustedProxies);
  const decision = await limiter.consume(policies.of({ address }, 'default').quotas);
  if (!decision.allowed) throw tooManyRequests(decision);
}

/** A refused credential is counted and logged with its reason, never with its text. */
function recordRefusal({ trace, request }: RequestContext, problem: Problem, deps: Deps): void {
  const reason = refusalOf(problem);
  if (reason === undefined) return;
  deps.metrics.refused(reason);
  const { code } = (problem.options.cause ?? {}) as { code?: string };
  const address = addressOf(request, deps.trustedProxies);
  deps.log.info({ reason, code, address, traceId: trace.traceId }, 'credential refused');
}

/** @param run whose idempotency key is claimed where the request is allowed */
async function limit(
  context: RequestContext,
  identity: Identity | Problem | undefined,
  destination: Destination | Problem | undefined,
  deps: Deps,
  run: Run | undefined,
): Promise<Decision> {
  const isKnown = identity !== undefined && !(identity instanceof Problem);
  const subject = isKnown ? identity : { address: addressOf(context.request, deps.trustedProxies) };
  const rateClass =
    destination && 'route' in destination ? destination.route.endpoint.rateLimitClass : undefined;
  const policy = deps.policies.of(subject, rateClass ?? 'default');
  const decision = await deps.limiter.consume(policy.quotas, run);
  context.addHeaders(limitHeaders(policy, decision));
  deps.metrics.limited(decision);
  if (!decision.allowed) throw tooManyRequests(decision);
  return decision;
}

function fail(context: RequestContext, error: unknown, { log }: Deps): void {
  const problem = error instanceof Problem ? error : internalProblem(error);
  const isServerError = ['internal', 'overloaded', 'upstream'].includes(problem.kind);
  if (isServerError && !context.response.destroyed) {
    const { service: area, route, trace } = context;
    log.warn({ err: problem.options.cause ?? problem, area, route, traceId: trace.traceId }, problem.detail);
  }
  if (context.response.headersSent) context.response.destroy();
  else context.sendProblem(problem);
}
