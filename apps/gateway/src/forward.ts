import type { ServerResponse } from 'node:http';
import type { Endpoint } from '@plinth/contracts/endpoint';
import type { Caller } from '@plinth/kernel/caller';
import { signCaller } from '@plinth/runtime/signed-caller';
import type { Exchange, HeaderList, WholeAnswer } from './exchange';
import type { IdempotencyGuard } from './idempotency/guard';
import { requireAccess } from './identity/access';
import type { Identity } from './identity/credential';
import type { Tenants } from './identity/tenants';
import { platformProblems } from '@plinth/contracts/platform/problems';
import { requestHeaders } from './proxy/headers';
import { relay } from './proxy/relay';
import { boundedBody, hasBody, wholeBody } from './proxy/request-body';
import type { StreamProxy } from './proxy/stream-proxy';
import type { Upstream } from './proxy/upstream';
import { contentTypeOf, isProblem, problemOfStatus } from './proxy/upstream-problem';
import type { Destination } from './route-table';
import { queryValues } from './target';

export interface ForwardDeps {
  callerKeys: readonly string[];
  bodyMilliseconds: number;
  tenants: Tenants;
  guard: IdempotencyGuard;
  upstreams: ReadonlyMap<string, { upstream: Upstream; stream: StreamProxy }>;
  /** Answers that have no end of their own. */
  eventStreams: Set<ServerResponse>;
}

/** Answers up to this size are complete before the client sees their first byte. */
const HELD_BYTES_MAX = 64 * 1024;

/** Who asks, in which tenant. */
interface Asker {
  caller: Caller | undefined;
  tenantId: string;
}

/** Checks that the caller may, and passes the request on to the service of its area. */
export async function forward(
  exchange: Exchange,
  destination: Destination,
  identity: Identity | undefined,
  deps: ForwardDeps,
): Promise<void> {
  const { route, params, path, query } = destination;
  const asker = askerOf(exchange, destination, identity, deps.tenants);
  requireAccess(route.endpoint.access, params, asker.caller);
  const key = deps.guard.readKey(exchange, route.endpoint.path);

  const place = deps.upstreams.get(route.area);
  if (!place) throw notInstalled(route.area);
  const pathWithQuery = query === '' ? path : `${path}?${query}`;
  const headersFor = (operationId?: string): HeaderList => {
    const caller = asker.caller && operationId ? { ...asker.caller, operationId } : (asker.caller ?? null);
    const { method, instance } = exchange;
    const signed = signCaller({ caller, tenantId: asker.tenantId, method, path, instance }, deps.callerKeys);
    return requestHeaders(exchange.request, exchange.trace, signed);
  };

  if (key !== undefined) {
    const answer = await runOnce(exchange, place.upstream, pathWithQuery, headersFor, { asker, key }, deps);
    if (answer) exchange.send(answer);
  } else if (isStream(route.endpoint)) {
    if (route.endpoint.success.events) remember(exchange.response, deps.eventStreams);
    await passStream(exchange, place, pathWithQuery, headersFor());
  } else {
    const timeout = timeoutOf(exchange, route.endpoint, place.upstream);
    const times = { bodyMilliseconds: deps.bodyMilliseconds, timeoutMilliseconds: timeout };
    await passOn(exchange, place.upstream, pathWithQuery, headersFor(), times);
  }
}

function askerOf(
  exchange: Exchange,
  { route, query }: Destination,
  identity: Identity | undefined,
  tenants: Tenants,
): Asker {
  const isPublic = route.endpoint.access.type === 'optional' || route.endpoint.access.type === 'anonymous';
  const named = isPublic ? tenants.fromParameter(queryValues(query, 'tenant')) : undefined;
  if (!identity)
    return { caller: undefined, tenantId: named ?? tenants.ofHost(exchange.request.headers.host) };
  const caller = tenants.callerIn(identity, named ?? tenants.fromHeader(exchange.valuesOf('x-tenant-id')));
  return { caller, tenantId: caller.tenantId };
}

const notInstalled = (area: string) =>
  platformProblems['area-unavailable'](`${area} is not part of this installation.`);

/** Bytes that are not held in memory: files in either direction, and streams of events. */
const isStream = ({ method, upload, binary, success, alternatives }: Endpoint): boolean =>
  upload === true ||
  binary === true ||
  (method === 'GET' &&
    [success, ...(alternatives ?? [])].some(({ file, events }) => file !== undefined || events === true));

function remember(response: ServerResponse, responses: Set<ServerResponse>): void {
  responses.add(response);
  response.once('close', () => responses.delete(response));
}

const PATIENCE_MILLISECONDS = 10_000;

/** What is known to take long may; its connection stands still meanwhile and must not be ended for that. */
function timeoutOf({ response }: Exchange, { rateLimitClass }: Endpoint, { settings }: Upstream): number {
  if (rateLimitClass !== 'expensive') return settings.timeoutMilliseconds;
  response.setTimeout(settings.slowTimeoutMilliseconds + PATIENCE_MILLISECONDS);
  return settings.slowTimeoutMilliseconds;
}

async function passStream(
  exchange: Exchange,
  { upstream, stream }: { upstream: Upstream; stream: StreamProxy },
  path: string,
  headers: HeaderList,
): Promise<void> {
  const leave = upstream.enter('streams');
  try {
    await stream(exchange, path, headers);
  } finally {
    leave();
  }
}

async function passOn(
  exchange: Exchange,
  upstream: Upstream,
  path: string,
  headers: HeaderList,
  { bodyMilliseconds, timeoutMilliseconds }: { bodyMilliseconds: number; timeoutMilliseconds: number },
): Promise<void> {
  const leave = upstream.enter('calls');
  try {
    const relayed = await relay(exchange, upstream, {
      method: exchange.method,
      path,
      headers: withLength(exchange, headers),
      body: hasBody(exchange) ? boundedBody(exchange, bodyMilliseconds) : null,
      timeoutMilliseconds,
      heldBytesMax: HELD_BYTES_MAX,
      outlivesClient: false,
    });
    if (relayed.kind === 'held') exchange.send(inProblemForm(relayed.answer));
  } finally {
    leave();
  }
}

function withLength({ request }: Exchange, headers: HeaderList): HeaderList {
  const length = request.headers['content-length'];
  return length === undefined || request.method === 'GET' || request.method === 'HEAD'
    ? headers
    : [...headers, 'content-length', length];
}

async function runOnce(
  exchange: Exchange,
  upstream: Upstream,
  path: string,
  headersFor: (operationId: string) => HeaderList,
  { asker, key }: { asker: Asker; key: string },
  { guard, bodyMilliseconds }: ForwardDeps,
): Promise<WholeAnswer | undefined> {
  const body = await wholeBody(exchange, bodyMilliseconds);
  const space = {
    tenantId: asker.tenantId,
    userId: asker.caller?.userId ?? '',
    method: exchange.method,
    path,
    key,
  };
  return guard.run(space, body, async (operationId) => {
    const leave = upstream.enter('calls');
    try {
      const relayed = await relay(exchange, upstream, {
        method: exchange.method,
        path,
        headers: headersFor(operationId),
        body,
        timeoutMilliseconds: guard.executionMilliseconds,
        heldBytesMax: guard.answerBytesMax,
        outlivesClient: true,
      });
      return relayed.kind === 'held' ? inProblemForm(relayed.answer) : undefined;
    } finally {
      leave();
    }
  });
}

/** A refusal of a service's HTTP parser, which knows no problems, gets the platform's form. */
function inProblemForm(answer: WholeAnswer): WholeAnswer {
  if (answer.status >= 400 && !isProblem(contentTypeOf(answer.headers))) throw problemOfStatus(answer.status);
  return answer;
}
