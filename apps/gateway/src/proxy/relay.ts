import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { errors, type Dispatcher } from 'undici';
import { Problem } from '@plinth/kernel/problem';
import type { Exchange, HeaderList, WholeAnswer } from '../exchange';
import { replyHeaders } from './headers';
import type { Upstream } from './upstream';

/** One request to a service. */
export interface Call {
  method: string;
  /** With its query. */
  path: string;
  headers: HeaderList;
  body: Readable | Buffer | null;
  timeoutMilliseconds: number;
  /** Answers up to this size are held until they are complete; larger ones are passed on as they come. */
  heldBytesMax: number;
  /** Goes on when the client goes away, so that the work and its answer are not lost. */
  outlivesClient: boolean;
}

/** How a call ended: with a whole answer in hand, or with one that went to the client on the way. */
export type Relayed = { kind: 'held'; answer: WholeAnswer } | { kind: 'passed-on' } | { kind: 'broken' };

/**
 * Sends a call to a service and passes its answer on with back-pressure.
 * A client that goes away cancels the call; a service that dies in the middle breaks the client's answer, so that
 * nobody takes half of it for the whole.
 * @throws Problem `area-unavailable` or `area-timed-out` when nothing was sent to the client yet.
 */
export async function relay(exchange: Exchange, upstream: Upstream, call: Call): Promise<Relayed> {
  try {
    return await attempt(exchange, upstream, call);
  } catch (error) {
    const again = call.method === 'GET' && isConnectionFailure(error) && upstream.mayRetry();
    if (!again) throw toProblem(error, upstream);
  }
  return attempt(exchange, upstream, call).catch((error: unknown) => {
    throw toProblem(error, upstream);
  });
}

function attempt(exchange: Exchange, upstream: Upstream, call: Call): Promise<Relayed> {
  return new Promise((resolve, reject) => {
    const passage = new Passage(exchange, upstream, call, resolve, reject);
    const { method, path, headers, body } = call;
    upstream.pool.dispatch(
      {
        method: method as Dispatcher.HttpMethod,
        path,
        headers,
        body,
        headersTimeout: 0,
        bodyTimeout: call.timeoutMilliseconds,
      },
      passage,
    );
  });
}

const CLIENT_GONE = new Error('The client went away.');
const TIMED_OUT = new Error('The service took too long.');

class Passage implements Dispatcher.DispatchHandler {
  private controller: Dispatcher.DispatchController | undefined;
  private held: Buffer[] = [];
  private heldBytes = 0;
  private status = 0;
  private headers: HeaderList = [];
  private passingOn = false;
  private readonly timer: NodeJS.Timeout;
  private gone: Error | undefined;

  constructor(
    private readonly exchange: Exchange,
    private readonly upstream: Upstream,
    private readonly call: Call,
    private readonly resolve: (relayed: Relayed) => void,
    private readonly reject: (error: unknown) => void,
  ) {
    this.timer = setTimeout(this.onTimeout, call.timeoutMilliseconds);
    exchange.response.once('close', this.onClientClose);
  }

  private readonly onTimeout = (): void => this.stop(TIMED_OUT);

  private readonly onClientClose = (): void => {
    if (this.exchange.response.writableFinished) return;
    if (this.call.outlivesClient && !this.passingOn) return;
    this.stop(CLIENT_GONE);
  };

  private readonly onDrain = (): void => this.controller?.resume();

  private stop(reason: Error): void {
    this.gone = reason;
    this.controller?.abort(reason);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.gone) controller.abort(this.gone);
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    if (status < 200) return;
    clearTimeout(this.timer);
    this.upstream.breaker.succeeded();
    this.status = status;
    this.headers = replyHeaders(headers);
    if (Number(headers['content-length'] ?? 0) > this.call.heldBytesMax) this.passOn();
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.passingOn) {
      if (this.exchange.response.write(chunk)) return;
      controller.pause();
      return;
    }
    this.held.push(chunk);
    this.heldBytes += chunk.length;
    if (this.heldBytes > this.call.heldBytesMax) this.passOn();
  }

  onResponseEnd(): void {
    this.finish();
    if (this.passingOn) {
      this.exchange.response.end();
      this.resolve({ kind: 'passed-on' });
      return;
    }
    const body =
      this.held.length === 1 ? this.held[0] : this.held.length === 0 ? undefined : Buffer.concat(this.held);
    this.resolve({ kind: 'held', answer: { status: this.status, headers: this.headers, body } });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.finish();
    if (error === CLIENT_GONE || error instanceof Problem) this.upstream.breaker.abandoned();
    else this.upstream.breaker.failed();
    if (error === CLIENT_GONE || this.passingOn) {
      this.exchange.response.destroy();
      this.resolve({ kind: 'broken' });
      return;
    }
    this.reject(error);
  }

  /** Too large to hold: from here on the client gets what comes, as fast as it reads. */
  private passOn(): void {
    this.passingOn = true;
    this.exchange.writeHead(this.status, this.headers);
    const { response } = this.exchange;
    response.on('drain', this.onDrain);
    for (const chunk of this.held) response.write(chunk);
    this.held = [];
    if (response.destroyed) this.stop(CLIENT_GONE);
    else if (response.writableNeedDrain) this.controller?.pause();
  }

  private finish(): void {
    clearTimeout(this.timer);
    this.exchange.response.off('close', this.onClientClose);
    this.exchange.response.off('drain', this.onDrain);
  }
}

const connectionFailures = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'EHOSTUNREACH',
  'ENOTFOUND',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_SOCKET',
]);

const isConnectionFailure = (error: unknown): boolean =>
  connectionFailures.has((error as NodeJS.ErrnoException).code ?? '') ||
  (error instanceof AggregateError && error.errors.some(isConnectionFailure));

/** A problem of the request's body is passed on as it is; everything else is the service's failure. */
function toProblem(error: unknown, upstream: Upstream): Problem {
  if (error instanceof Problem) return error;
  const isLate = error === TIMED_OUT || error instanceof errors.BodyTimeoutError;
  return isLate ? upstream.timedOut(error) : upstream.unavailable(error);
}
