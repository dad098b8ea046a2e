import type { IncomingMessage, ServerResponse } from 'node:http';
import { createProxyMiddleware } from 'http-proxy-middleware';
import type { Exchange, HeaderList } from '../exchange';
import { replyHeaders } from './headers';
import { problemOfStatus, isProblem } from './upstream-problem';
import type { Upstream } from './upstream';

/** Uploads, downloads and event streams: http-proxy-middleware moves the bytes, in both directions, untouched. */
export type StreamProxy = (exchange: Exchange, path: string, headers: HeaderList) => Promise<void>;

export function createStreamProxy(upstream: Upstream): StreamProxy {
  const exchanges = new WeakMap<IncomingMessage, Exchange>();

  const middleware = createProxyMiddleware<IncomingMessage, ServerResponse>({
    target: upstream.origin,
    agent: upstream.agent,
    ejectPlugins: true,
    plugins: [
      (server) => {
        server.on('proxyReq', (proxyRequest) => {
          proxyRequest.setTimeout(upstream.settings.timeoutMilliseconds, () =>
            proxyRequest.destroy(TIMED_OUT),
          );
        });
        server.on('proxyRes', (reply, request) => {
          reply.socket.setTimeout(0);
          upstream.breaker.succeeded();
          begin(exchanges.get(request)!, reply);
        });
        server.on('error', (error, request) => {
          const exchange = exchanges.get(request as IncomingMessage);
          if (exchange) fail(exchange, upstream, error);
        });
      },
    ],
  });

  return async (exchange, path, headers) => {
    const { request, response } = exchange;
    exchanges.set(request, exchange);
    request.url = path;
    request.headers = { ...framing(request), ...fromList(headers) };
    const closed = new Promise<void>((resolve) => response.once('close', resolve));
    await middleware(request, response, () => undefined);
    await closed;
  };
}

const TIMED_OUT = new Error('The service took too long.');

/** Starts the client's answer. What http-proxy-middleware would copy itself is already sent then. */
function begin(exchange: Exchange, reply: IncomingMessage): void {
  const status = reply.statusCode ?? 502;
  if (status >= 400 && !isProblem(reply.headers['content-type'])) {
    exchange.sendProblem(problemOfStatus(status));
    reply.resume();
    return;
  }
  exchange.writeHead(status, replyHeaders(reply.headers));
  exchange.response.flushHeaders();
}

function fail(exchange: Exchange, upstream: Upstream, error: unknown): void {
  const { response } = exchange;
  if (response.destroyed) {
    upstream.breaker.abandoned();
    return;
  }
  upstream.breaker.failed();
  if (response.headersSent) response.destroy();
  else exchange.sendProblem(error === TIMED_OUT ? upstream.timedOut(error) : upstream.unavailable(error));
}

/** How long the body is stays as the client said it. */
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
