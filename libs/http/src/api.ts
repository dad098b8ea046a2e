/**
 * One pipeline runs every endpoint from its contract.
 *
 * A contract declares the input, the response and the access of an endpoint; a handler implements it. Only this file is
 * between them: it finds the endpoint, verifies the caller that the gateway signed, checks access again, parses path,
 * query and body, calls the handler and sends its response. Every error on the way becomes a problem in one place. A
 * process does not start while an endpoint of its contract has no handler, so every documented endpoint exists.
 */
import type { IncomingMessage } from 'node:http';
import { SpanKind, type Span } from '@opentelemetry/api';
import {
  accessOf,
  type BodyOf,
  type Endpoint,
  type Endpoints,
  type ParamsOf,
  type QueryOf,
  type ResponseBodyOf,
} from '@plinth/contracts/endpoint';
import { createRouteTable, type RouteTable, type Route } from '@plinth/contracts/route-table';
import type { Caller } from '@plinth/kernel/caller';
import type { Precondition } from '@plinth/kernel/entity-tag';
import type { ShareOwner } from '@plinth/kernel/fair-shares';
import { parseListQuery, refuseGrouping, type QueryParameters } from '@plinth/kernel/list-query';
import { malformed, notFound, Problem } from '@plinth/kernel/problem';
import { isUnstorable } from '@plinth/kernel/text';
import type { DeadLetters } from '@plinth/runtime/messaging/dead-letters';
import { forRequest } from '@plinth/runtime/process/current-work';
import { BUSY_HEADER, EventLoopLoad } from '@plinth/runtime/process/event-loop-load';
import { EventLoopTurns, measurePlaces, turnsAt } from '@plinth/runtime/process/fair-places';
import type { Health } from '@plinth/runtime/process/health';
import type { Log } from '@plinth/runtime/process/log';
import type { FairPool } from '@plinth/runtime/postgres/fair-pool';
import { problemOfRequest } from '@plinth/runtime/postgres/postgres';
import { recentQueues } from '@plinth/runtime/postgres/store-metrics';
import {
  CALLER_HEADER,
  verifyBody,
  verifyCaller,
  type CallerClaims,
} from '@plinth/runtime/rpc/signed-caller';
import { describeSpan, inSpan, TRACE_PARENT_HEADER } from '@plinth/runtime/process/tracing';
import express, { type Express, type Request, type Response } from 'express';
import { Histogram, type Registry } from 'prom-client';
import { requireAcceptable } from './acceptable';
import { requireAccess } from './access';
import { readJson } from './body';
import { ByteBudget, measureBytes, type ByteReservation } from '@plinth/runtime/process/byte-budget';
import { mountDeadLetters } from './dead-letters';
import { endEarlyResponse, isBodyPending } from './end-early-response';
import { gatherChunks } from './gather-chunks';
import { endWithLateProblem } from './late-problem';
import { isLongRead, longReadPlaces } from './long-reads';
import { toListRequest, type ListRequest } from './paging';
import { readPrecondition } from './precondition';
import { NeedsLongRead } from './total-count';
import { problemResponse, internalProblem } from './problem-details';
import { quotaRefusals } from './quota-refusals';
import type { EndpointResponse } from './response';
import { sendResponse } from './send-response';
import { requireStorableQuery } from './storable-query';
import { parseInput } from '@plinth/kernel/validation';

/** The input of a handler. */
export interface Input<E extends Endpoint> {
  params: ParamsOf<E>;
  query: QueryOf<E>;
  body: BodyOf<E>;
  list: E extends { list: object } ? ListRequest : undefined;
  /** Null on anonymous endpoints when the request has no credential; `tenantId` is always set. */
  caller: E extends { access: { type: 'anonymous' | 'optional' } } ? Caller | null : Caller;
  /** The tenant of the request, also when it has no credential. */
  tenantId: string;
  precondition: Precondition;
  /** For uploads and special headers. */
  request: IncomingMessage;
  /** Aborted when the client disconnects before the response is complete. */
  signal: AbortSignal;
  traceId: string;
}

type HandlerResult<E extends Endpoint> =
  | ResponseBodyOf<E>
  | EndpointResponse<ResponseBodyOf<E>>
  | EndpointResponse<undefined>
  | (undefined extends ResponseBodyOf<E> ? void : never);

export type Handler<E extends Endpoint> = (input: Input<E>) => Promise<HandlerResult<E>> | HandlerResult<E>;

export interface Api {
  /** Registers the handler of an endpoint of the contract. */
  on<E extends Endpoint>(endpoint: E, handler: Handler<E>): void;
}

export interface ServiceContext {
  config: {
    NODE_ENV: string;
    PUBLIC_URL: string;
    PUBLIC_PREFIX: string;
    CALLER_KEYS: readonly string[];
    CURSOR_KEYS: readonly string[];
    BUFFERED_BYTES_MAX: number;
    BUFFERED_RESPONSE_BYTES_MAX: number;
  };
  log: Log;
  health: Health;
  metrics: Registry;
  /** Undefined for a service without a database. */
  pool?: FairPool | undefined;
  /** Undefined for a service that processes no events. */
  deadLetters?: DeadLetters | undefined;
}

/** Large bodies that are encoded at the same time, one of a tenant; the others wait. */
const ENCODINGS = 2;

type AnyHandler = (input: Input<Endpoint>) => unknown;

/** Builds the HTTP side of a service: all endpoints of its contract, each with its handler. */
export function createService(
  service: string,
  endpoints: Endpoints,
  context: ServiceContext,
  mount: (api: Api) => void,
): Express {
  const handlers = new Map<Endpoint, AnyHandler>();
  mount({ on: (endpoint, handler) => void handlers.set(endpoint, handler as unknown as AnyHandler) });
  const table = createRouteTable({ [service]: endpoints });
  requireHandlers(table.routes, handlers);
  const duration = durationMetric(context.metrics);
  const bodies = new ByteBudget(context.config.BUFFERED_BYTES_MAX);
  const responses = new ByteBudget(context.config.BUFFERED_RESPONSE_BYTES_MAX);
  measureBytes(context.metrics, { bodies, responses });
  const turns = new EventLoopTurns();
  const load = new EventLoopLoad();
  const encodings = turnsAt(ENCODINGS);
  const longReads = longReadPlaces();
  // Whoever sees a list does not wait for those who search: they have places of their own.
  const countings = longReadPlaces();
  measurePlaces(context.metrics, { encodings, 'long-reads': longReads, countings });

  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.get('/readyz', async (_req, res) => {
    const readiness = await context.health.readiness();
    res.status(readiness.ready ? 200 : 503).json(readiness);
  });
  // For the gateway, like the readiness: figures without anybody's data.
  app.get('/state', async (_req, res) => {
    const { ready, parts } = await context.health.readiness();
    const queues = context.pool ? await recentQueues(context.pool).catch(() => null) : null;
    res.json({ ready, parts, queues });
  });
  // For the gateway too, which makes one list of all services' out of them.
  mountDeadLetters(app, context);
  const handle = async (req: Request, res: Response, span: Span, signal: AbortSignal): Promise<void> => {
    const traceId = traceIdOf(req);
    const end = duration.startTimer({ area: service, method: req.method });
    let route = 'none';
    let instance = pathOf(req);
    const reservations: ByteReservation[] = [];
    const problemContext = () => ({ instance, traceId, publicUrl: context.config.PUBLIC_URL });
    gatherChunks(req, (problem) => sendProblem(problem, req, res, problemContext(), context.log));
    try {
      const found = findRoute(table, req, context.config.PUBLIC_PREFIX);
      route = found.route.name;
      const claims = readClaims(req, context);
      instance = claims.instance;
      const owner = ownerOf(claims);
      const [ofBody, ofResponse] = [bodies.reserve(owner), responses.reserve(owner)];
      reservations.push(ofBody, ofResponse);
      const { endpoint } = found.route;
      const input = await readInput(endpoint, found.params, claims, req, traceId, {
        ...context,
        reservation: ofBody,
        signal,
      });
      const handler = handlers.get(endpoint)!;
      const handleIn = (places: typeof longReads) =>
        places.run(owner, async () => handler(countingAll(input)), signal);
      const handleShort = async () => handler(input);
      const result = await (isLongRead(endpoint, input.list)
        ? handleIn(longReads)
        : handleShort().catch((error: unknown) => {
            if (error instanceof NeedsLongRead) return handleIn(countings);
            throw error;
          }));
      if (load.isBusy) res.setHeader(BUSY_HEADER, '1');
      await sendResponse(found.route.endpoint, result, req, res, {
        prefix: context.config.PUBLIC_PREFIX,
        checkResponses: context.config.NODE_ENV === 'test',
        reservation: ofResponse,
        owner,
        turns,
        encodings,
        signal,
      });
    } catch (caught) {
      const error = signal.aborted && isAbort(caught) ? disconnected(caught) : caught;
      countRefusal(context.metrics, error);
      sendProblem(error, req, res, problemContext(), context.log);
    } finally {
      for (const reservation of reservations) reservation.releaseAfter(res);
      end({ route, status: res.statusCode });
      describeSpan(span, { area: service, method: req.method, route, status: res.statusCode });
    }
  };
  app.use((req: Request, res: Response) => {
    const step = { name: req.method, kind: SpanKind.SERVER, traceparent: req.get(TRACE_PARENT_HEADER) };
    const abort = new AbortController();
    res.once('close', () => res.writableFinished || abort.abort());
    return inSpan(step, (span) => forRequest(abort.signal, () => handle(req, res, span, abort.signal)));
  });
  return app;
}

function requireHandlers(routes: readonly Route[], handlers: ReadonlyMap<Endpoint, AnyHandler>): void {
  const missing = routes.filter(({ endpoint }) => !handlers.has(endpoint)).map(({ name }) => name);
  if (missing.length > 0) throw new Error(`These endpoints have no handler: ${missing.join(', ')}.`);
  const known = new Set(routes.map(({ endpoint }) => endpoint));
  const foreign = [...handlers.keys()].filter((endpoint) => !known.has(endpoint));
  if (foreign.length > 0)
    throw new Error(`These handlers have no endpoint: ${foreign.map(({ path }) => path).join(', ')}.`);
}

const durationMetric = (metrics: Registry) =>
  (metrics.getSingleMetric('plinth_http_request_duration_seconds') as Histogram | undefined) ??
  new Histogram({
    name: 'plinth_http_request_duration_seconds',
    help: 'Time from the first byte of a request to the end of its response; how long a client reads counts for files only.',
    labelNames: ['area', 'method', 'route', 'status'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25],
    registers: [metrics],
  });

/** Work that its client's leaving ended is no failure of ours. */
const isAbort = (error: unknown): boolean => (error as Partial<Error> | undefined)?.name === 'AbortError';
const disconnected = (cause: unknown): Problem =>
  new Problem('timed-out', 'The client disconnected.', { cause });

/** Counts a request that a quota refused. */
function countRefusal(metrics: Registry, error: unknown): void {
  const exceeded = error instanceof Problem ? error.options.extensions?.['quota'] : undefined;
  if (!exceeded) return;
  const { name: quota, scope } = exceeded as { name: string; scope: string };
  quotaRefusals(metrics).inc({ quota, scope });
}

const pathOf = (req: Request): string => req.originalUrl.split('?', 1)[0]!;

/** The trace id of the W3C `traceparent` header, which the gateway always sends. */
const traceIdOf = (req: Request): string =>
  /^00-([0-9a-f]{32})-/.exec(req.get(TRACE_PARENT_HEADER) ?? '')?.[1] ?? '0'.repeat(32);

function findRoute(table: RouteTable, req: Request, prefix: string) {
  const path = pathOf(req);
  if (!path.startsWith(`${prefix}/`)) throw notFound(`There is no resource at ${path}.`);
  const relative = path.slice(prefix.length);
  const match = table.match(req.method, relative.length > 1 ? relative.replace(/\/$/, '') : relative);
  if (match.found === 'nothing') throw notFound(`There is no resource at ${path}.`);
  if (match.found === 'path') {
    throw new Problem('method-not-allowed', `${req.method} is not allowed for this resource.`, {
      allow: match.allow,
    });
  }
  return match;
}

const readClaims = (req: Request, { config }: ServiceContext): CallerClaims =>
  verifyCaller(req.get(CALLER_HEADER), { method: req.method, path: req.originalUrl }, config.CALLER_KEYS);

/**
 * Whose shares a request uses: as at the gateway, not those of a tenant that anybody may name. A gateway of the version before
 * says no network; what comes from all of its clients must not be the share of one.
 */
const ownerOf = ({ caller, tenantId, network }: CallerClaims): ShareOwner =>
  caller ?? (network === undefined ? { tenantId, userId: '' } : { tenantId: '', userId: network });

/** The input of a handler in a place for long reads. */
const countingAll = (input: Input<Endpoint>): Input<Endpoint> => {
  const list = input.list as ListRequest | undefined;
  return list ? { ...input, list: { ...list, countsAll: true } as never } : input;
};

async function readInput(
  endpoint: Endpoint,
  encodedParams: Record<string, string>,
  claims: CallerClaims,
  req: Request,
  traceId: string,
  { config, reservation, signal }: ServiceContext & { reservation: ByteReservation; signal: AbortSignal },
): Promise<Input<Endpoint>> {
  const params = decodeParams(encodedParams);
  requireAccess(accessOf(endpoint.access, params), claims.caller);
  requireAcceptable(endpoint, req);
  const query = readQuery(req);
  if (endpoint.query && 'page' in endpoint.query.shape) refuseGrouping(query);
  const { tenantId } = claims;
  const cursorContext = `${tenantId}\n${pathOf(req)}`;
  return {
    params: (endpoint.params ? parseInput(endpoint.params, params, 'path') : params) as never,
    query: (endpoint.query ? parseInput(endpoint.query, query, 'query') : {}) as never,
    list: (endpoint.list &&
      toListRequest(parseListQuery(query, endpoint.list), cursorContext, config.CURSOR_KEYS)) as never,
    body: (await readBody(endpoint, claims, req, reservation)) as never,
    caller: claims.caller as never,
    tenantId,
    precondition: readPrecondition(req),
    request: req,
    signal,
    traceId,
  };
}

function decodeParams(encoded: Record<string, string>): Record<string, string> {
  const decode = (text: string): string => {
    try {
      return decodeURIComponent(text);
    } catch {
      throw malformed('The path is not correctly percent-encoded.');
    }
  };
  const params = Object.fromEntries(Object.entries(encoded).map(([name, text]) => [name, decode(text)]));
  if (Object.values(params).some(isUnstorable))
    throw malformed('The path contains NUL or half of a surrogate pair.');
  return params;
}

function readQuery(req: Request): QueryParameters {
  const query = req.query as QueryParameters;
  requireStorableQuery(query);
  return query;
}

async function readBody(
  endpoint: Endpoint,
  claims: CallerClaims,
  req: Request,
  reservation: ByteReservation,
): Promise<unknown> {
  if (endpoint.upload) {
    if (/^multipart\/form-data\b/i.test(req.get('content-type') ?? '')) return undefined;
    throw new Problem('unsupported-media-type', 'Send the file as multipart/form-data.');
  }
  if (!endpoint.body) {
    req.resume();
    return undefined;
  }
  const body = await readJson(req, reservation, (bytes) => verifyBody(claims, bytes));
  const schema = endpoint.body;
  if (body !== undefined) return reservation.inTurn(() => parseInput(schema, body, 'body'));
  const withoutBody = endpoint.body.safeParse(undefined);
  if (withoutBody.success) return withoutBody.data;
  throw malformed('A JSON body is required.');
}

function sendProblem(
  error: unknown,
  req: Request,
  res: Response,
  problemContext: Parameters<typeof problemResponse>[1],
  log: Log,
): void {
  const problem = error instanceof Problem ? error : (problemOfRequest(error) ?? internalProblem(error));
  const isServerError = ['internal', 'overloaded', 'upstream'].includes(problem.kind);
  if (isServerError)
    log.error(
      { err: problem.options.cause ?? problem, traceId: problemContext.traceId, path: pathOf(req) },
      problem.detail,
    );
  const response = problemResponse(problem, problemContext);
  if (res.headersSent) {
    endWithLateProblem(res, response);
    return;
  }
  const { status, headers, body } = response;
  for (const name of res.getHeaderNames()) res.removeHeader(name);
  const isEarly = isBodyPending(req);
  if (isEarly) res.setHeader('connection', 'close');
  res.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });
  if (isEarly) endEarlyResponse(req, res, body);
  else res.end(body);
}
