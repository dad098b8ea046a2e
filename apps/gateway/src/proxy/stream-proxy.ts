import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ShareOwner } from '@plinth/kernel/fair-shares';
import type { EventLoopTurns } from '@plinth/runtime/process/fair-places';
import { inTurns } from '@plinth/runtime/process/in-turns';
import { createProxyMiddleware } from 'http-proxy-middleware';
import type { RequestContext, HeaderList } from '../request-context';
import { responseHeaders } from './headers';
import { problemOfStatus, isProblem } from './upstream-problem';
import type { Upstream } from './upstream';

/** Uploads, downloads and event streams: the bytes are passed on unchanged, in both directions. */
export type StreamProxy = (stream: StreamedRequest, path: string, headers: HeaderList) => Promise<void>;

interface StreamedRequest {
  context: RequestContext;
  owner: ShareOwner;
}

/** @param turns in which the pieces of all responses are sent */
export function createStreamProxy(upstream: Upstream, turns: EventLoopTurns): StreamProxy {
  const streams = new WeakMap<IncomingMessage, StreamedRequest>();

  const middleware = createProxyMiddleware<IncomingMessage, ServerResponse>({
    target: upstream.origin,
    agent: upstream.agent,
    ejectPlugins: true,
    selfHandleResponse: true,
    plugins: [
      (server) => {
        server.on('proxyReq', (proxyRequest, request) => {
          proxyRequest.setTimeout(upstream.settings.timeoutMilliseconds, () => {
            // A client that pauses in its upload says nothing about the service; its own timeout ends it.
            if (request.complete || proxyRequest.writableNeedDrain) proxyRequest.destroy(TIMED_OUT);
          });
        });
        server.on('proxyRes', (upstreamResponse, request) => {
          upstreamResponse.socket.setTimeout(0);
          upstream.responded(upstreamResponse.headers);
          const { context, owner } = streams.get(request)!;
          if (begin(context, upstreamResponse))
            upstreamResponse.pipe(inTurns(owner, turns)).pipe(context.response);
        });
        server.on('error', (error, request) => {
          const stream = streams.get(request as IncomingMessage);
          if (stream) fail(stream.context, upstream, error);
        });
      },
    ],
  });

  return async (stream, path, headers) => {
    const { request, response } = stream.context;
    streams.set(request, stream);
    request.url = path;
    request.headers = { ...framing(request), ...fromList(headers) };
    const closed = new Promise<void>((resolve) => response.once('close', resolve));
    await middleware(request, response, () => undefined);
    await closed;
  };
}

const TIMED_OUT = new Error('The service took too long.');

/** Sends the head of the response; false where it was a problem of ours instead, and nothing follows. */
function begin(context: RequestContext, upstreamResponse: IncomingMessage): boolean {
  const status = upstreamResponse.statusCode ?? 502;
  if (status >= 400 && !isProblem(upstreamResponse.headers['content-type'])) {
    context.sendProblem(problemOfStatus(status));
    upstreamResponse.resume();
    return false;
  }
  context.writeHead(status, responseHeaders(upstreamResponse.headers));
  context.response.flushHeaders();
  return true;
}

function fail(context: RequestContext, upstream: Upstream, error: unknown): void {
  const { response } = context;
  if (response.destroyed) {
    upstream.breaker.abandoned();
    return;
  }
  upstream.breaker.failed();
  if (response.headersSent) response.destroy();
  else context.sendProblem(error === TIMED_OUT ? upstream.timedOut(error) : upstream.unavailable(error));
}

/** The length of the body is forwarded as the client declared it. */
function framing({ headers }: IncomingMessage): Record<string, string> {
  const length = headers['content-length'];
  if (length !== undefined) return { 'content-length': length };
  return headers['transfer-encoding'] === undefined ? {} : { 'transfer-encoding': 'chunked' };
}

function fromList(headers: HeaderList): Record<string, string> {
  const byName: Record<string, string> = {};
  for (let index = 0; index < headers.length; index += 2) byName[headers[index]!] = headers[index + 1]!;
  return byName;
}
