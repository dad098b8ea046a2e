import { setTimeout as pause } from 'node:timers/promises';
import {
  type Client,
  credentials,
  Metadata,
  Server,
  ServerCredentials,
  status,
  type ChannelCredentials,
  type ChannelOptions,
  type handleUnaryCall,
  type requestCallback,
  type ServerErrorResponse,
  type ServiceDefinition,
  type ServiceError,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { SpanKind } from '@opentelemetry/api';
import type { Registry } from 'prom-client';
import { HOST_TENANT_ID, type Caller } from '@plinth/kernel/caller';
import { Problem, unavailable, type ProblemKind, type ProblemOptions } from '@plinth/kernel/problem';
import { inTime } from '../process/in-time';
import type { Close } from '../process/lifecycle';
import { FairPlaces, measurePlaces } from '../process/fair-places';
import type { Log } from '../process/log';
import { problemOfRequest } from '../postgres/postgres';
import { LOOK_UPS, lookedUp } from './addresses';
import { countMessages, isUnread, notingSizes, type MessageBudget } from './message-budget';
import { CALLER_HEADER, signCaller, verifyCaller } from './signed-caller';
import { disconnected, type StreamedCall } from './streamed-call';
import { currentTraceparent, inSpan, TRACE_PARENT_HEADER } from '../process/tracing';

const PROBLEM_KEY = 'plinth-problem-bin';
const METHOD = 'GRPC';
const DEADLINE_MILLISECONDS = 10_000;
/** After a message for which a service had no room; twice as long after each further attempt. */
const UNREAD_WAIT_MILLISECONDS = 100;
/** Who gets a place in the last part of the time is told that there was none: the call would end as if its service were away. */
const TOO_LATE_PART = 0.1;

/**
 * A process that is lost with its machine closes no connection, so both sides ask whether the other one is there. A server
 * that did not would hold for its client what the call has begun, such as the transaction of an import.
 */
const KEEP_ALIVE: ChannelOptions = { 'grpc.keepalive_time_ms': 15_000, 'grpc.keepalive_timeout_ms': 5_000 };

const MEBIBYTE = 1024 * 1024;
/** Of a message to a service, which has all of it in memory before it can be counted. */
const REQUEST_BYTES_MAX = 4 * MEBIBYTE;
/**
 * Of a message from a service. Whoever asks holds it for one call at a time, and it may be several times what it answers:
 * whatever cannot be bounded below is sent in parts.
 */
const RESPONSE_BYTES_MAX = 32 * MEBIBYTE;

const channelOptions: ChannelOptions = {
  ...KEEP_ALIVE,
  ...LOOK_UPS,
  'grpc.max_send_message_length': REQUEST_BYTES_MAX,
  'grpc.max_receive_message_length': RESPONSE_BYTES_MAX,
  'grpc.initial_reconnect_backoff_ms': 200,
  'grpc.max_reconnect_backoff_ms': 2_000,
  'grpc.service_config': JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] }),
};

/** Calls of one process at the same time; its others wait there. A worker works at four jobs at once. */
const CALLS_PER_CONNECTION_MAX = 16;
/** Those on behalf of callers, whose tenants share them; what is left is for streams and for the platform itself. */
const CALLS_AT_ONCE = 12;
const CALLS_WAITING_MAX = 10_000;

/** One table: what a kind of problem is called in gRPC. */
const statusByKind: Record<ProblemKind, status> = {
  malformed: status.INVALID_ARGUMENT,
  unauthenticated: status.UNAUTHENTICATED,
  forbidden: status.PERMISSION_DENIED,
  'not-found': status.NOT_FOUND,
  'method-not-allowed': status.UNIMPLEMENTED,
  'not-acceptable': status.INVALID_ARGUMENT,
  'timed-out': status.DEADLINE_EXCEEDED,
  conflict: status.ABORTED,
  gone: status.NOT_FOUND,
  'too-large': status.FAILED_PRECONDITION,
  'address-too-long': status.INVALID_ARGUMENT,
  'unsupported-media-type': status.INVALID_ARGUMENT,
  'range-not-satisfiable': status.OUT_OF_RANGE,
  invalid: status.FAILED_PRECONDITION,
  limited: status.RESOURCE_EXHAUSTED,
  'headers-too-large': status.INVALID_ARGUMENT,
  internal: status.INTERNAL,
  unsupported: status.UNIMPLEMENTED,
  upstream: status.UNAVAILABLE,
  overloaded: status.UNAVAILABLE,
};

/** One service this process answers for: its definition and its handlers. */
export interface GrpcService {
  definition: ServiceDefinition;
  handlers: UntypedServiceImplementation;
}

/**
 * Serves the calls of other services.
 * @param messages of all calls together; without it only the size of each is limited
 */
export async function serveGrpc(
  config: { HTTP_HOST: string; GRPC_PORT: number },
  services: readonly GrpcService[],
  messages?: MessageBudget,
): Promise<{ port: number; close: (millisecondsMax?: number) => Promise<void> }> {
  const interceptors = messages ? [countMessages(messages, toMetadata)] : [];
  const server = new Server({
    ...KEEP_ALIVE,
    'grpc.max_receive_message_length': REQUEST_BYTES_MAX,
    'grpc.max_send_message_length': RESPONSE_BYTES_MAX,
    'grpc.keepalive_permit_without_calls': 1,
    // A message is received before it is counted. Where nothing is counted, calls may wait for long.
    ...(messages && { 'grpc.max_concurrent_streams': CALLS_PER_CONNECTION_MAX }),
    interceptors,
  });
  for (const { definition, handlers } of services)
    server.addService(messages ? notingSizes(definition) : definition, handlers);
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync(
      `${config.HTTP_HOST}:${config.GRPC_PORT}`,
      ServerCredentials.createInsecure(),
      (error, bound) => (error ? reject(error) : resolve(bound)),
    );
  });
  return {
    port,
    /** Takes no more calls, and gives those that run so long to end. */
    async close(millisecondsMax = DEADLINE_MILLISECONDS) {
      const finished = new Promise<void>((resolve) => server.tryShutdown(() => resolve()));
      await inTime(millisecondsMax, finished, () => undefined);
      // What lasts longer, such as the rows of a large export, is requested again from where it stopped.
      server.forceShutdown();
    },
  };
}

/** Makes handlers that know their caller and send problems as problems. */
export function grpcHandlers(callerKeys: readonly string[], log: Log) {
  /** Reads the signed caller of a call; null is the platform itself. */
  const callerOf = (metadata: Metadata, path: string): Caller | null => {
    const header = metadata.get(CALLER_HEADER)[0]?.toString();
    return verifyCaller(header, { method: METHOD, path }, callerKeys).caller;
  };

  /** Runs the work of a call as a step of the caller's trace. */
  const inTrace = <Result>(
    { metadata, path }: { metadata: Metadata; path: string },
    work: () => Promise<Result>,
  ): Promise<Result> => {
    const traceparent = metadata.get(TRACE_PARENT_HEADER)[0]?.toString();
    return inSpan({ name: path, kind: SpanKind.SERVER, traceparent }, work);
  };

  return {
    callerOf,
    /** Handles a call that sends its response message by message. */
    streamed:
      <Call extends StreamedCall<never>>(handle: (call: Call) => Promise<void>) =>
      (call: Call): void => {
        inTrace({ metadata: call.metadata, path: call.getPath() }, () => handle(call)).then(
          () => call.end(),
          (error: unknown) => call.emit('error', toGrpcError(ofCall(call, error), log)),
        );
      },
    /** Handles a call with one request and one response. */
    unary:
      <Request, Response>(
        handle: (request: Request, caller: Caller | null) => Promise<Response>,
      ): handleUnaryCall<Request, Response> =>
      (call, respond) => {
        const { metadata } = call;
        const path = call.getPath();
        inTrace({ metadata, path }, async () => handle(call.request, callerOf(metadata, path))).then(
          (response) => respond(null, response),
          (error: unknown) => respond(toGrpcError(error, log)),
        );
      },
  };
}

/** Who reads the messages of a call whose client disconnected is told that they ended too early, which is no bug. */
const ofCall = (call: StreamedCall<never>, error: unknown): unknown =>
  call.cancelled && (error as NodeJS.ErrnoException).code === 'ERR_STREAM_PREMATURE_CLOSE'
    ? disconnected(error)
    : error;

/** The response to a failed call. An error that is no problem is a bug: logged whole, sent as one neutral sentence. */
function toGrpcError(error: unknown, log: Log): ServerErrorResponse {
  const problem = error instanceof Problem ? error : problemOfRequest(error);
  if (!problem) {
    log.error({ err: error }, 'call from another service failed');
    return Object.assign(new Error('An unexpected error occurred.'), { code: status.INTERNAL });
  }
  return Object.assign(new Error(problem.kind), {
    code: statusByKind[problem.kind],
    metadata: toMetadata(problem),
  });
}

function toMetadata({ kind, detail, options: { cause: _cause, ...options } }: Problem): Metadata {
  const metadata = new Metadata();
  metadata.set(PROBLEM_KEY, Buffer.from(JSON.stringify({ kind, detail, options })));
  return metadata;
}

/** Whether something that was thrown is the failure of a call. */
export const isServiceError = (error: unknown): error is ServiceError =>
  error instanceof Error && 'code' in error && 'metadata' in error;

/** The problem behind a failed call. */
export function problemOfGrpc(error: ServiceError, service: string): Problem {
  const sent = error.metadata?.get(PROBLEM_KEY)[0];
  if (sent) {
    const { kind, detail, options } = JSON.parse(sent.toString()) as {
      kind: ProblemKind;
      detail: string;
      options: ProblemOptions;
    };
    return new Problem(kind, detail, { ...options, cause: error });
  }
  const unreachable = [status.UNAVAILABLE, status.DEADLINE_EXCEEDED, status.CANCELLED].includes(error.code);
  if (unreachable) return unavailable(`The service ${service} is unavailable; try again.`, error);
  if (error.code === status.UNIMPLEMENTED)
    return new Problem('unsupported', `The service ${service} does not support this.`, { cause: error });
  return new Problem('internal', 'An unexpected error occurred.', { cause: error });
}

/** The problem of a call that was never sent, as its service has too many already: what it asks for does not happen. */
export class CallNotSent extends Problem {
  constructor(service: string) {
    const { kind, detail, options } = unavailable(
      `The service ${service} has too many calls already; try again.`,
    );
    super(kind, detail, options);
  }
}

/** The generated client of a service. */
export interface ClientConstructor<C extends Client> {
  new (address: string, credentials: ChannelCredentials, options?: ChannelOptions): C;
  service: ServiceDefinition;
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- overloads of generated clients are matched structurally
type UnaryMethod = (argument: any, callback: requestCallback<any>) => unknown;
type UnaryNames<C> = { [Name in keyof C]: C[Name] extends UnaryMethod ? Name : never }[keyof C] & string;
type RequestOf<F> = F extends (argument: infer Request, callback: never) => unknown ? Request : never;
type ResponseOf<F> = F extends (argument: never, callback: requestCallback<infer Response>) => unknown
  ? Response
  : never;

/** The client of another service. */
export interface ServiceClient<C extends Client> {
  /** The generated client, for streams; pass it `identity(...)` as metadata. */
  client: C;
  /** Metadata that says on whose behalf a method is called; null is the platform itself. */
  identity(method: string, caller: Caller | null): Metadata;
  /** Calls one method. @throws Problem as the service sent it, or `overloaded` when it is unavailable, or `CallNotSent`. */
  call<Name extends UnaryNames<C>>(
    method: Name,
    request: RequestOf<C[Name]>,
    caller: Caller | null,
    options?: { deadlineMilliseconds?: number },
  ): Promise<ResponseOf<C[Name]>>;
  close: Close;
}

/**
 * Makes the client of another service, which may be unavailable now and come later. Its calls go to all processes at the
 * address, those that are added later too.
 * @param metrics show operators how calls on behalf of callers wait for a place, as `grpc-calls-<area>`
 */
export function serviceClient<C extends Client>(
  area: string,
  Constructor: ClientConstructor<C>,
  address: string,
  callerKeys: readonly string[],
  metrics?: Registry,
): ServiceClient<C> {
  const client = new Constructor(lookedUp(address), credentials.createInsecure(), channelOptions);
  const places = new FairPlaces({
    places: CALLS_AT_ONCE,
    waitingMax: CALLS_WAITING_MAX,
    refused: () => new CallNotSent(area),
  });
  if (metrics) measurePlaces(metrics, { [`grpc-calls-${area}`]: places });
  const pathOf = (method: string) => Constructor.service[method]?.path ?? method;
  const identity = (method: string, caller: Caller | null): Metadata => {
    const metadata = new Metadata();
    const tenantId = caller?.tenantId ?? HOST_TENANT_ID;
    const claims = { caller, tenantId, method: METHOD, path: pathOf(method), instance: '' };
    metadata.set(CALLER_HEADER, signCaller(claims, callerKeys));
    const traceparent = currentTraceparent();
    if (traceparent !== undefined) metadata.set(TRACE_PARENT_HEADER, traceparent);
    return metadata;
  };
  return {
    client,
    identity,
    call: (method, request, caller, { deadlineMilliseconds = DEADLINE_MILLISECONDS } = {}) =>
      inSpan({ name: pathOf(method), kind: SpanKind.CLIENT }, async () => {
        const deadline = Date.now() + deadlineMilliseconds;
        const call = client[method] as unknown as (...parts: unknown[]) => void;
        const attempt = () =>
          new Promise<never>((resolve, reject) => {
            const respond = (error: ServiceError | null, response?: unknown) =>
              error ? reject(error) : resolve(response as never);
            call.call(client, request, identity(method, caller), { deadline }, respond);
          });
        const untilDone = async () => {
          if (Date.now() > deadline - deadlineMilliseconds * TOO_LATE_PART) throw new CallNotSent(area);
          for (let wait = UNREAD_WAIT_MILLISECONDS; ; wait *= 2) {
            try {
              return await attempt();
            } catch (error) {
              const mayRepeat = isUnread(error as ServiceError) && Date.now() + wait < deadline;
              if (!mayRepeat) throw problemOfGrpc(error as ServiceError, area);
            }
            await pause(wait);
          }
        };
        return caller ? places.run(caller, untilDone, undefined, deadlineMilliseconds) : untilDone();
      }),
    close: () => client.close(),
  };
}
