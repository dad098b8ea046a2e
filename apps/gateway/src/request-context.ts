import type { IncomingMessage, ServerResponse } from 'node:http';
import { endEarlyResponse, isBodyPending } from '@plinth/http/end-early-response';
import { endInOneWrite } from '@plinth/http/end-in-one-write';
import { problemResponse } from '@plinth/http/problem-details';
import type { Problem } from '@plinth/kernel/problem';
import type { Identity } from './identity/identity';
import type { Trace } from './trace';

/** Names and values in turn, as `writeHead` takes them. */
export type HeaderList = string[];

/** A response that is complete before its first byte is sent. */
export interface CompleteResponse {
  status: number;
  headers: HeaderList;
  body: Buffer | string | undefined;
}

/** What the gateway knows about one request while it handles it. Headers that belong on every response are collected here. */
export class RequestContext {
  /** Who sent it, once that is known. */
  identity: Identity | undefined;
  /** The path as the client wrote it. */
  readonly instance: string;
  /** For metrics, spans and logs. */
  service = 'gateway';
  route = 'none';
  /** Whether its response, where it succeeds, is a stream of events that lasts for as long as somebody reads it. */
  isForEvents = false;

  constructor(
    readonly request: IncomingMessage,
    readonly response: ServerResponse,
    readonly trace: Trace,
    private readonly publicUrl: string,
    private readonly commonHeaders: HeaderList,
  ) {
    const url = request.url ?? '/';
    const mark = url.indexOf('?');
    const path = mark < 0 ? url : url.slice(0, mark);
    this.instance = path.startsWith('/') ? path : '/';
  }

  get method(): string {
    return this.request.method ?? 'GET';
  }

  /** Adds headers to the response, whichever it will be. */
  addHeaders(headers: readonly string[]): void {
    this.commonHeaders.push(...headers);
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

  /** Sets the common headers for a handler that writes its response with Node's own methods. */
  setCommonHeaders(): void {
    const headers = this.withCommonHeaders([]);
    for (let index = 0; index < headers.length; index += 2)
      this.response.setHeader(headers[index]!, headers[index + 1]!);
  }

  writeHead(status: number, headers: HeaderList): void {
    this.response.writeHead(status, this.withCommonHeaders(headers));
  }

  send({ status, headers, body }: CompleteResponse): void {
    if (this.response.headersSent || this.response.destroyed) return;
    const { request, response } = this;
    const isPending = isBodyPending(request);
    response.writeHead(status, this.withCommonHeaders(headers, body));
    if (this.method === 'HEAD' || body === undefined) response.end();
    else if (isPending) endEarlyResponse(request, response, body);
    else endInOneWrite(response, body);
  }

  /** Every response varies with the origin of the request, also where that origin is not allowed. */
  private withCommonHeaders(headers: HeaderList, body?: Buffer | string): HeaderList {
    const all = [...this.commonHeaders];
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
    // Instead of waiting for the rest.
    if (isBodyPending(this.request)) all.push('connection', 'close');
    return all;
  }

  sendProblem(problem: Problem): void {
    this.send(this.responseOf(problem));
  }

  /** The response that a problem of this request is. */
  responseOf(problem: Problem): CompleteResponse {
    const { instance, publicUrl } = this;
    const { traceId } = this.trace;
    const { status, headers, body } = problemResponse(problem, { instance, traceId, publicUrl });
    return { status, headers: Object.entries(headers).flat(), body };
  }
}
