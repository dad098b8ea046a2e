import type { ServerResponse } from 'node:http';
import type { Endpoint } from '@plinth/contracts/endpoint';
import { SMALL_BYTES_MAX, type ByteBudget, type ByteReservation } from '@plinth/runtime/process/byte-budget';
import type { Caller } from '@plinth/kernel/caller';
import type { ShareOwner } from '@plinth/kernel/fair-shares';
import { hashOf, signCaller } from '@plinth/runtime/rpc/signed-caller';
import type { RequestContext, HeaderList, CompleteResponse } from './request-context';
import type { IdempotencyGuard } from './idempotency/guard';
import type { KeySpace, Run } from './idempotency/records';
import { requireAccess } from './identity/access';
import type { Identity } from './identity/identity';
import type { RevokedApiKeys } from './identity/revoked-api-keys';
import { addressOf } from './limits/limit-request';
import { networkOf } from './limits/policies';
import type { Tenants } from './identity/tenants';
import { platformProblems } from '@plinth/contracts/platform/problems';
import { requestHeaders } from './proxy/headers';
import { relay, type Relayed } from './proxy/relay';
import { arrivedSmallBody, boundedBody, hasBody, sendContinue, wholeBody } from './proxy/request-body';
import type { StreamProxy } from './proxy/stream-proxy';
import type { Upstream } from './proxy/upstream';
import { contentTypeOf, isProblem, problemOfStatus } from './proxy/upstream-problem';
import type { Destination } from './route-table';
import { queryValues } from './target';

export interface ForwardDeps {
  callerKeys: readonly string[];
  /** Of the bodies and responses that are held in memory. */
  buffered: ByteBudget;
  trustedProxies: number;
  bodyMilliseconds: number;
  tenants: Tenants;
  guard: IdempotencyGuard;
  revokedApiKeys: RevokedApiKeys;
  upstreams: ReadonlyMap<string, { upstream: Upstream; stream: StreamProxy }>;
  /** Responses that never end by themselves, with the API key of their caller where there is one. */
  eventStreams: Map<ServerResponse, string | undefined>;
}

/** Responses up to this size are complete before the client sees their first byte. */
const BUFFERED_BYTES_MAX = 64 * 1024;

/** A request on its way to a service. */
interface ForwardedRequest {
  context: RequestContext;
  endpoint: Endpoint;
  upstream: Upstream;
  owner: ShareOwner;
  reservation: ByteReservation;
  /** The response that the client gets; undefined where it was streamed. */
  toResponse: (relayed: Relayed) => CompleteResponse | undefined | Promise<CompleteResponse>;
}

/** What the service learns of a request with an idempotency key. */
interface ForwardedOperation extends Required<Pick<Caller, 'operationId' | 'operationBodyHash'>> {
  /** Where there is a body. */
  bodyHash: string | undefined;
}

/** A caller, who may be absent, and the tenant of the request. */
interface CallerInTenant {
  caller: Caller | undefined;
  tenantId: string;
}

/** A request that its service may get, unless it exceeds its limits. */
export interface Admission extends CallerInTenant {
  destination: Destination;
  key: string | undefined;
  service: { upstream: Upstream; stream: StreamProxy };
  owner: ShareOwner;
  reservation: ByteReservation;
  pathWithQuery: string;
}

/** The operation of a request with an idempotency key whose body is in memory. */
export interface ArrivedOperation {
  run: Run;
  body: Buffer;
}

/**
 * Checks that the caller may use the endpoint.
 * @throws Problem `invalid-credential`, `permission-missing`, `area-unavailable` and what `readKey` throws
 */
export function admit(
  context: RequestContext,
  destination: Destination,
  identity: Identity | undefined,
  deps: ForwardDeps,
): Admission {
  const { route, params, path, query } = destination;
  const { caller, tenantId } = callerInTenant(context, destination, identity, deps.tenants);
  requireAccess(route.endpoint.access, params, caller);
  const key = deps.guard.readKey(context, route.endpoint.path);
  const service = deps.upstreams.get(route.service);
  if (!service) throw notInstalled(route.service);
  const owner = ownerOf(context, caller, deps);
  const reservation = deps.buffered.reserve(owner);
  const pathWithQuery = query === '' ? path : `${path}?${query}`;
  return { destination, caller, tenantId, key, service, owner, reservation, pathWithQuery };
}

/**
 * Begins the operation of a request with an idempotency key whose body is here already, as nearly all small ones are by
 * now, so that the key can be claimed in the same call of Redis that counts the request. Undefined for all others.
 */
export function beginArrivedOperation(
  context: RequestContext,
  admission: Admission,
  { guard }: Pick<ForwardDeps, 'guard'>,
): ArrivedOperation | undefined {
  if (admission.key === undefined) return undefined;
  const body = arrivedSmallBody(context, admission.reservation);
  if (!body) return undefined;
  return { run: guard.begin(spaceOf(context, admission, admission.key), hashOf(body)), body };
}

const spaceOf = (
  { method }: RequestContext,
  { tenantId, caller, pathWithQuery }: Admission,
  key: string,
): KeySpace => ({ tenantId, userId: caller?.userId ?? '', method, path: pathWithQuery, key });

/**
 * Forwards a request to its service.
 * @param arrived what `beginArrivedOperation` began, and whether its key is claimed already
 */
export async function forward(
  context: RequestContext,
  admission: Admission,
  deps: ForwardDeps,
  arrived?: ArrivedOperation & { hasKey: boolean },
): Promise<void> {
  const { destination, caller, tenantId, key, service, owner, reservation, pathWithQuery } = admission;
  const { upstream } = service;
  const { endpoint } = destination.route;
  const headersFor = (operation?: ForwardedOperation): HeaderList => {
    const { bodyHash, ...claimed } = operation ?? {};
    const signedCaller = caller && operation ? { ...caller, ...claimed } : (caller ?? null);
    const { method, instance } = context;
    const network = caller ? undefined : owner.userId;
    const claims = {
      caller: signedCaller,
      tenantId,
      network,
      method,
      path: pathWithQuery,
      instance,
      bodyHash,
    };
    return requestHeaders(context.request, context.trace, signCaller(claims, deps.callerKeys));
  };

  const toResponse: ForwardedRequest['toResponse'] = (relayed) => {
    if (relayed.kind !== 'buffered') return undefined;
    const response = requireProblem(relayed.response);
    if (!endpoint.revokesApiKey || response.status >= 300) return response;
    // As it is stored, and not as this client writes it.
    const id = destination.params['id']!.toLowerCase();
    return deps.revokedApiKeys.add(id).then(() => response);
  };
  const request: ForwardedRequest = { context, endpoint, upstream, owner, reservation, toResponse };
  let endTurn: (() => void) | undefined;
  try {
    if (!arrived && hasLargeBody(request))
      endTurn = await upstream.turns.largeBodies.begin(owner, context.response);
    if (key !== undefined) {
      const operation = arrived ?? (await readOperation(request, spaceOf(context, admission, key), deps));
      const response = await forwardOnce(request, pathWithQuery, operation, headersFor, deps);
      if (response) context.send(response);
    } else if (isStream(endpoint)) {
      context.isForEvents = endpoint.success.events === true;
      if (context.isForEvents) track(context.response, caller?.apiKeyId, deps.eventStreams);
      await forwardStream(request, service.stream, pathWithQuery, headersFor);
    } else {
      const timeoutMilliseconds = timeoutOf(endpoint, upstream);
      if (isSlow(endpoint)) allowIdle(context, timeoutMilliseconds);
      const times = { bodyMilliseconds: deps.bodyMilliseconds, timeoutMilliseconds };
      await forwardCall(request, pathWithQuery, headersFor, times);
    }
  } finally {
    endTurn?.();
    reservation.releaseAfter(context.response);
  }
}

/** Whose shares a request uses. All who show no credential share those of one tenant, whichever tenant they name. */
function ownerOf(
  { request }: RequestContext,
  caller: Caller | undefined,
  { trustedProxies }: ForwardDeps,
): ShareOwner {
  return caller ?? { tenantId: '', userId: networkOf(addressOf(request, trustedProxies)) };
}

function callerInTenant(
  context: RequestContext,
  { route, query }: Destination,
  identity: Identity | undefined,
  tenants: Tenants,
): CallerInTenant {
  const isPublic = route.endpoint.access.type === 'optional' || route.endpoint.access.type === 'anonymous';
  const named = isPublic ? tenants.fromParameter(queryValues(query, 'tenant')) : undefined;
  if (!identity)
    return { caller: undefined, tenantId: named ?? tenants.ofHost(context.request.headers.host) };
  const caller = tenants.callerIn(identity, named ?? tenants.fromHeader(context.valuesOf('x-tenant-id')));
  return { caller, tenantId: caller.tenantId };
}

const notInstalled = (service: string) =>
  platformProblems['area-unavailable'](`The ${service} service is not part of this installation.`);

/** Bodies that are never buffered: files in either direction, and event streams. */
const isStream = ({ method, upload, success, alternatives }: Endpoint): boolean =>
  upload === true ||
  (method === 'GET' &&
    [success, ...(alternatives ?? [])].some(({ file, events }) => file !== undefined || events === true));

/** One whose length nobody knows may be large. */
const hasLargeBody = ({ context, endpoint }: ForwardedRequest): boolean =>
  hasBody(context) && !isStream(endpoint) && !(lengthOf(context) <= SMALL_BYTES_MAX);

const lengthOf = ({ request }: RequestContext): number => Number(request.headers['content-length']);

function track(
  response: ServerResponse,
  apiKeyId: string | undefined,
  responses: ForwardDeps['eventStreams'],
): void {
  responses.set(response, apiKeyId);
  response.once('close', () => responses.delete(response));
}

const isSlow = ({ rateLimitClass }: Endpoint): boolean => rateLimitClass === 'expensive';

const IDLE_MARGIN_MILLISECONDS = 10_000;

const timeoutOf = (endpoint: Endpoint, { settings }: Upstream): number =>
  isSlow(endpoint) ? settings.slowTimeoutMilliseconds : settings.timeoutMilliseconds;

/** The connection of a slow endpoint is idle while its service works, and must not be closed for that. */
const allowIdle = ({ response }: RequestContext, milliseconds: number): void =>
  void response.setTimeout(milliseconds + IDLE_MARGIN_MILLISECONDS);

async function forwardStream(
  { context, endpoint, upstream, owner }: ForwardedRequest,
  stream: StreamProxy,
  path: string,
  headersFor: () => HeaderList,
): Promise<void> {
  const leave = endpoint.upload
    ? await upstream.enterInTurn('uploads', owner, context.response)
    : upstream.enter('streams', owner);
  try {
    sendContinue(context);
    const timeoutMilliseconds = timeoutOf(endpoint, upstream);
    // A client that sends nothing while its service would read is ended sooner, by its least rate.
    if (isSlow(endpoint)) allowIdle(context, timeoutMilliseconds);
    await stream({ context, owner, timeoutMilliseconds }, path, headersFor());
  } finally {
    leave();
  }
}

/** Those that are known to be slow have shares of their own in their service, and take no turns. */
const enterCall = ({ endpoint, upstream, owner }: ForwardedRequest, client?: ServerResponse) =>
  isSlow(endpoint) ? upstream.enter('calls', owner) : upstream.enterInTurn('calls', owner, client);

async function forwardCall(
  request: ForwardedRequest,
  path: string,
  headersFor: () => HeaderList,
  { bodyMilliseconds, timeoutMilliseconds }: { bodyMilliseconds: number; timeoutMilliseconds: number },
): Promise<void> {
  const { context, upstream, reservation, toResponse } = request;
  const leave = await enterCall(request, context.response);
  try {
    const relayed = await relay(context, upstream, {
      method: context.method,
      path,
      headers: () => withLength(context, headersFor()),
      body: hasBody(context) ? boundedBody(context, reservation, bodyMilliseconds) : null,
      timeoutMilliseconds,
      bufferedBytesMax: BUFFERED_BYTES_MAX,
      reservation,
      outlivesClient: false,
    });
    const response = await toResponse(relayed);
    if (response) context.send(response);
  } finally {
    leave();
  }
}

function withLength({ request }: RequestContext, headers: HeaderList): HeaderList {
  const length = request.headers['content-length'];
  return length === undefined || request.method === 'GET' || request.method === 'HEAD'
    ? headers
    : [...headers, 'content-length', length];
}

async function readOperation(
  { context, reservation }: ForwardedRequest,
  space: KeySpace,
  { guard, bodyMilliseconds }: ForwardDeps,
): Promise<ArrivedOperation> {
  const body = await wholeBody(context, reservation, bodyMilliseconds);
  const fingerprint = await reservation.inTurn(() => hashOf(body));
  return { run: guard.begin(space, fingerprint), body };
}

async function forwardOnce(
  request: ForwardedRequest,
  path: string,
  { run, body, hasKey = false }: ArrivedOperation & { hasKey?: boolean },
  headersFor: (operation: ForwardedOperation) => HeaderList,
  { guard }: ForwardDeps,
): Promise<CompleteResponse | undefined> {
  const { context, endpoint, upstream, reservation, toResponse } = request;
  const { fingerprint } = run;
  const bodyHash = body.length > 0 ? fingerprint : undefined;
  const execute = async (operationId: string, hold: () => Promise<void>) => {
    const turn = enterCall(request);
    const leave = await turn;
    try {
      if (turn instanceof Promise) await hold();
      const relayed = await relay(context, upstream, {
        method: context.method,
        path,
        headers: () => headersFor({ operationId, operationBodyHash: fingerprint, bodyHash }),
        body,
        timeoutMilliseconds: guard.executionMilliseconds,
        bufferedBytesMax: guard.responseBytesMax,
        reservation,
        outlivesClient: true,
      });
      return await toResponse(relayed);
    } finally {
      leave();
    }
  };
  const isReplayed = endpoint.showsSecret !== true;
  return guard.run(run, execute, { isReplayed, hasKey });
}

/** An error response of a service's HTTP parser, which does not send problems, is replaced by a problem. */
function requireProblem(response: CompleteResponse): CompleteResponse {
  const { status, headers } = response;
  if (status >= 400 && !isProblem(contentTypeOf(headers))) throw problemOfStatus(status);
  return response;
}
