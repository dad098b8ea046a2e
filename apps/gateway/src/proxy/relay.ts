import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { errors, type Dispatcher } from 'undici';
import type { ByteReservation } from '@plinth/runtime/process/byte-budget';
import { announcesLateProblem, hasLateProblem, lateProblemIn } from '@plinth/http/late-problem';
import { Problem } from '@plinth/kernel/problem';
import type { RequestContext, HeaderList, CompleteResponse } from '../request-context';
import { responseHeaders } from './headers';
import type { Upstream } from './upstream';

/** One request to a service. */
export interface UpstreamRequest {
  method: string;
  /** With its query. */
  path: string;
  /** Made for each attempt: a signed caller is accepted once. */
  headers: () => HeaderList;
  body: Readable | Buffer | null;
  timeoutMilliseconds: number;
  /** Responses up to this size are buffered until they are complete, while the process has room; others are streamed. */
  bufferedBytesMax: number;
  /** Where the bytes of the response are counted. */
  reservation: ByteReservation;
  /** Continues when the client disconnects, so that the work and its response are not lost. */
  outlivesClient: boolean;
}

/** How a request to a service ended: with a complete response, or with one that was streamed to the client. */
export type Relayed =
  { kind: 'buffered'; response: CompleteResponse } | { kind: 'streamed' } | { kind: 'aborted' };

/**
 * Sends a request to a service and relays its response with back-pressure.
 * A client that disconnects cancels the request; a service that dies in the middle aborts the client's response, so that
 * half of it is never taken for the whole.
 * @throws Problem `area-unavailable` or `area-timed-out` as long as nothing was sent to the client.
 */
export async function relay(
  context: RequestContext,
  upstream: Upstream,
  call: UpstreamRequest,
): Promise<Relayed> {
  try {
    return await attempt(context, upstream, call);
  } catch (error) {
    const mayRetry = call.method === 'GET' && isConnectionError(error) && upstream.mayRetry();
    if (!mayRetry) throw toProblem(error, upstream);
  }
  return attempt(context, upstream, call).catch((error: unknown) => {
    throw toProblem(error, upstream);
  });
}

function attempt(context: RequestContext, upstream: Upstream, call: UpstreamRequest): Promise<Relayed> {
  return new Promise((resolve, reject) => {
    const handler = new RelayHandler(context, upstream, call, resolve, reject);
    const { method, path, body } = call;
    upstream.pool.dispatch(
      {
        method: method as Dispatcher.HttpMethod,
        path,
        headers: [...call.headers(), 'te', 'trailers'],
        body,
        headersTimeout: 0,
        bodyTimeout: call.timeoutMilliseconds,
      },
      handler,
    );
  });
}

const CLIENT_DISCONNECTED = new Error('The client disconnected.');
const PROBLEM_LOST = new Error('The response is not whole, and no problem that can be read came behind it.');
const SPACE = 0x20;
/** Browsers forget what they have not read yet when its connection breaks off. */
const LAST_PART_MILLISECONDS = 500;
const TIMED_OUT = new Error('The service took too long.');

class RelayHandler implements Dispatcher.DispatchHandler {
  private controller: Dispatcher.DispatchController | undefined;
  private buffered: Buffer[] = [];
  private bufferedBytes = 0;
  private status = 0;
  private headers: HeaderList = [];
  private isStreaming = false;
  private readonly timer: NodeJS.Timeout;
  private respondedAt = 0;
  private mayEndInProblem = false;
  private lastByte: number | undefined;
  private abortReason: Error | undefined;
  private readonly sentAt = new Date();

  constructor(
    private readonly context: RequestContext,
    private readonly upstream: Upstream,
    private readonly call: UpstreamRequest,
    private readonly resolve: (relayed: Relayed) => void,
    private readonly reject: (error: unknown) => void,
  ) {
    this.timer = setTimeout(this.onTimeout, call.timeoutMilliseconds);
    context.response.once('close', this.onClientClose);
  }

  private readonly onTimeout = (): void => this.stop(TIMED_OUT);

  private readonly onClientClose = (): void => {
    if (this.context.response.writableFinished) return;
    if (this.call.outlivesClient && !this.isStreaming) return;
    this.stop(CLIENT_DISCONNECTED);
  };

  private readonly onDrain = (): void => this.controller?.resume();

  private stop(reason: Error): void {
    this.abortReason = reason;
    this.controller?.abort(reason);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.abortReason) controller.abort(this.abortReason);
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    if (status < 200) return;
    clearTimeout(this.timer);
    this.upstream.responded(headers);
    this.status = status;
    this.headers = responseHeaders(headers);
    this.respondedAt = performance.now();
    this.mayEndInProblem = announcesLateProblem(headers);
    if (Number(headers['content-length'] ?? 0) > this.call.bufferedBytesMax) this.startStreaming();
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.lastByte = chunk.at(-1);
    if (this.isStreaming) {
      if (this.context.response.write(chunk)) return;
      controller.pause();
      return;
    }
    this.buffered.push(chunk);
    this.bufferedBytes += chunk.length;
    const fits = this.bufferedBytes <= this.call.bufferedBytesMax;
    if (!fits || this.lasts() || this.call.reservation.grow(chunk.length)) this.startStreaming();
  }

  onResponseEnd(controller: Dispatcher.DispatchController, trailers: IncomingHttpHeaders): void {
    const problem = lateProblemIn(trailers);
    // A proxy of a mesh may drop trailers: what keeps a connection alive is not taken for the whole response.
    const isDropped = this.mayEndInProblem && this.lastByte === SPACE;
    if (!problem && (isDropped || hasLateProblem(trailers))) {
      this.onResponseError(controller, PROBLEM_LOST);
      return;
    }
    this.finish();
    if (this.isStreaming) {
      if (problem) this.breakOffWith(problem.body);
      else this.context.response.end();
      this.resolve({ kind: problem ? 'aborted' : 'streamed' });
      return;
    }
    if (problem) {
      const { status, headers, body } = problem;
      this.resolve({ kind: 'buffered', response: { status, headers: responseHeaders(headers), body } });
      return;
    }
    const body =
      this.buffered.length === 1
        ? this.buffered[0]
        : this.buffered.length === 0
          ? undefined
          : Buffer.concat(this.buffered);
    this.resolve({ kind: 'buffered', response: { status: this.status, headers: this.headers, body } });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.finish();
    // A service that has responded is there, whatever becomes of the rest.
    const hasResponse = this.status !== 0;
    if (hasResponse || error === CLIENT_DISCONNECTED || error instanceof Problem)
      this.upstream.breaker.abandoned();
    else if (error === TIMED_OUT) this.upstream.breaker.timedOut(this.sentAt);
    else this.upstream.breaker.failed();
    if (error === CLIENT_DISCONNECTED || this.isStreaming) {
      this.context.response.destroy();
      this.resolve({ kind: 'aborted' });
      return;
    }
    this.reject(error);
  }

  /** Whether what the service sends while it works has to keep the connection of the client alive, too. */
  private lasts(): boolean {
    const { call, upstream, respondedAt } = this;
    return !call.outlivesClient && performance.now() - respondedAt > upstream.settings.timeoutMilliseconds;
  }

  /** The response is too large to buffer, now or ever, or lasts: from here on the client gets it as fast as it reads. */
  private startStreaming(): void {
    this.isStreaming = true;
    this.context.writeHead(this.status, this.headers);
    const { response } = this.context;
    response.on('drain', this.onDrain);
    for (const chunk of this.buffered) response.write(chunk);
    this.buffered = [];
    if (response.destroyed) this.stop(CLIENT_DISCONNECTED);
    else if (response.writableNeedDrain) this.controller?.pause();
  }

  /**
   * Says the problem to a client that has a head which says something else: what it reads never is a whole response, and
   * ends with the reason.
   */
  private breakOffWith(problem: string): void {
    const { request, response } = this.context;
    // A client of HTTP/1.0 would take it for the last part of a whole one.
    if (request.httpVersion === '1.0') response.destroy();
    else response.write(problem, () => setTimeout(() => response.destroy(), LAST_PART_MILLISECONDS));
  }

  private finish(): void {
    clearTimeout(this.timer);
    this.context.response.off('close', this.onClientClose);
    this.context.response.off('drain', this.onDrain);
  }
}

const connectionErrorCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'EHOSTUNREACH',
  'ENOTFOUND',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_SOCKET',
]);

const isConnectionError = (error: unknown): boolean =>
  connectionErrorCodes.has((error as NodeJS.ErrnoException).code ?? '') ||
  (error instanceof AggregateError && error.errors.some(isConnectionError));

/** A problem of the request's body is returned unchanged; every other error is the service's. */
function toProblem(error: unknown, upstream: Upstream): Problem {
  if (error instanceof Problem) return error;
  const isLate = error === TIMED_OUT || error instanceof errors.BodyTimeoutError;
  return isLate ? upstream.timedOut(error) : upstream.unavailable(error);
}
