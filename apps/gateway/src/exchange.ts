import type { IncomingMessage, ServerResponse } from 'node:http';
import { answerProblem } from '@plinth/conventions/problem-details';
import type { Problem } from '@plinth/kernel/problem';
import type { Trace } from './trace';

/** Names and values in turn, as `writeHead` takes them. */
export type HeaderList = string[];

/** An answer that is complete before its first byte is sent. */
export interface WholeAnswer {
  status: number;
  headers: HeaderList;
  body: Buffer | string | undefined;
}

/** One request and the answer it gets. What belongs on every answer is collected here and sent by whoever answers. */
export class Exchange {
  /** The path as the client wrote it. */
  readonly instance: string;
  /** For metrics and logs. */
  area = 'gateway';
  route = 'none';

  constructor(
    readonly request: IncomingMessage,
    readonly response: ServerResponse,
    readonly trace: Trace,
    private readonly publicUrl: string,
    private readonly common: HeaderList,
  ) {
    const url = request.url ?? '/';
    const mark = url.indexOf('?');
    const path = mark < 0 ? url : url.slice(0, mark);
    this.instance = path.startsWith('/') ? path : '/';
  }

  get method(): string {
    return this.request.method ?? 'GET';
  }

  /** Adds headers to whatever is answered in the end. */
  add(headers: readonly string[]): void {
    this.common.push(...headers);
  }

  /** All values that a header was given; Node joins or drops repeated ones. */
  valuesOf(name: string): string[] {
    const raw = this.request.rawHeaders;
    const values: string[] = [];
    for (let index = 0; index < raw.length; index += 2) {
      if (raw[index]!.length === name.length && raw[index]!.toLowerCase() === name)
        values.push(raw[index + 1]!);
    }
    return values;
  }

  /** For those who write their answer in Node's own way. */
  prepare(): void {
    const headers = this.completed([]);
    for (let index = 0; index < headers.length; index += 2)
      this.response.setHeader(headers[index]!, headers[index + 1]!);
  }

  writeHead(status: number, headers: HeaderList): void {
    this.response.writeHead(status, this.completed(headers));
  }

  send({ status, headers, body }: WholeAnswer): void {
    if (this.response.headersSent || this.response.destroyed) return;
    const { request, response } = this;
    const isPending = isBodyPending(request);
    response.writeHead(status, this.completed(headers, body));
    if (this.method === 'HEAD' || body === undefined) response.end();
    else if (isPending) endLater(request, response, body);
    else if (typeof body === 'string' || body.length > ONE_WRITE_BYTES_MAX) response.end(body);
    else response.end(body.toString('latin1'), 'latin1');
  }

  /** Adds what belongs on every answer. Each one depends on the origin that asks, also where that one is not allowed. */
  private completed(headers: HeaderList, body?: Buffer | string): HeaderList {
    const all = [...this.common];
    let vary = 'Origin';
    let hasCacheControl = false;
    let hasLength = body === undefined;
    for (let index = 0; index < headers.length; index += 2) {
      const name = headers[index]!.toLowerCase();
      const value = headers[index + 1]!;
      if (name === 'vary') {
        vary = `${value}, ${vary}`;
        continue;
      }
      if (name === 'cache-control') hasCacheControl = true;
      else if (name === 'content-length') hasLength = true;
      all.push(name, value);
    }
    all.push('vary', vary);
    if (!hasCacheControl) all.push('cache-control', 'no-store');
    if (!hasLength) all.push('content-length', String(Buffer.byteLength(body!)));
    if (isBodyPending(this.request)) all.push('connection', 'close');
    return all;
  }

  sendProblem(problem: Problem): void {
    const { instance, publicUrl } = this;
    const { status, headers, body } = answerProblem(problem, {
      instance,
      traceId: this.trace.traceId,
      publicUrl,
    });
    this.send({ status, headers: Object.entries(headers).flat(), body });
  }
}

/** Node joins head and body into one write when both are text; Latin-1 keeps every byte as it is. */
const ONE_WRITE_BYTES_MAX = 16 * 1024;

const LINGER_MILLISECONDS = 500;

/**
 * Sends an answer while the client is still sending. Ending the connection at once would reset it, and the client
 * might never read what was said; so what it sends is thrown away for a moment.
 */
function endLater(request: IncomingMessage, response: ServerResponse, body: Buffer | string): void {
  response.write(body);
  const end = (): void => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(end, LINGER_MILLISECONDS);
  request.once('end', end).once('close', end).resume();
}

/** An answer that comes before the body of the request was read ends the connection: the rest is not waited for. */
const isBodyPending = ({ complete, headers }: IncomingMessage): boolean =>
  !complete && ('transfer-encoding' in headers || (headers['content-length'] ?? '0') !== '0');
