import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import type { ShareOwner } from '@plinth/kernel/fair-shares';
import { Problem } from '@plinth/kernel/problem';
import type { EventLoopTurns } from '@plinth/runtime/process/fair-places';
import { isBodyPending } from '@plinth/http/end-early-response';
import { inTurns } from '@plinth/runtime/process/in-turns';
import { watchRate } from '@plinth/runtime/process/least-rate';
import { createProxyMiddleware } from 'http-proxy-middleware';
import type { RequestContext, HeaderList } from '../request-context';
import { responseHeaders } from './headers';
import { problemOfStatus, isProblem } from './upstream-problem';
import type { Upstream, UpstreamSettings } from './upstream';

/** Uploads, downloads and event streams: the bytes are passed on unchanged, in both directions. */
export type StreamProxy = (stream: StreamedRequest, path: string, headers: HeaderList) => Promise<void>;

interface StreamedRequest {
  context: RequestContext;
  owner: ShareOwner;
  /** How long the service may take until its response begins, once it has the body. */
  timeoutMilliseconds: number;
}

interface RunningStream extends StreamedRequest {
  sentAt: Date;
  /** The service has responded: what goes wrong with the rest of the request does not matter any more. */
  hasResponse: boolean;
  /** The response is on its way, and needs nothing more of the service. */
  finish: () => void;
}

/** @param turns in which the pieces of all responses are sent */
export function createStreamProxy(upstream: Upstream, turns: EventLoopTurns): StreamProxy {
  const streams = new WeakMap<IncomingMessage, RunningStream>();

  const middleware = createProxyMiddleware<IncomingMessage, ServerResponse>({
    target: upstream.origin,
    agent: upstream.agent,
    ejectPlugins: true,
    selfHandleResponse: true,
    plugins: [
      (server) => {
        server.on('proxyReq', (proxyRequest, request) => {
          proxyRequest.setTimeout(streams.get(request)!.timeoutMilliseconds, () => {
            // A client that pauses in its upload says nothing about the service; its own limit ends it.
            if (request.complete || proxyRequest.writableNeedDrain) proxyRequest.destroy(TIMED_OUT);
          });
          if (isBodyPending(request)) limitTime(request, proxyRequest, upstream.settings);
        });
        server.on('proxyRes', (upstreamResponse, request) => {
          upstreamResponse.socket.setTimeout(0);
          upstream.responded(upstreamResponse.headers);
          const stream = streams.get(request)!;
          stream.hasResponse = true;
          passOn(upstreamResponse, stream, upstream.settings, turns).catch(() =>
            stream.context.response.destroy(),
          );
        });
        server.on('error', (error, request) => {
          const stream = streams.get(request as IncomingMessage);
          if (stream && !stream.hasResponse) fail(stream, upstream, error);
        });
      },
    ],
  });

  return async (stream, path, headers) => {
    const { request, response } = stream.context;
    const finished = Promise.withResolvers<void>();
    streams.set(request, { ...stream, sentAt: new Date(), hasResponse: false, finish: finished.resolve });
    request.url = path;
    request.headers = { ...framing(request), ...connectionOf(request), ...fromList(headers) };
    response.once('close', finished.resolve);
    await middleware(request, response, () => undefined);
    await finished.promise;
  };
}

const TIMED_OUT = new Error('The service took too long.');

/**
 * Ends the request to the service once its body arrives too slowly, so that the service gives back what the upload holds. A
 * service that does not read on holds its client back, which then may be slow.
 */
function limitTime(
  request: IncomingMessage,
  proxyRequest: ClientRequest,
  { uploadRateMin }: Pick<UpstreamSettings, 'uploadRateMin'>,
): void {
  const arrival = {
    bytesArrived: () => request.socket.bytesRead,
    isHeld: () => request.complete || proxyRequest.writableNeedDrain,
  };
  const endWatch = watchRate(uploadRateMin, arrival, () => proxyRequest.destroy(uploadTooSlow()));
  proxyRequest.once('close', endWatch);
}

const uploadTooSlow = (): Problem => new Problem('timed-out', 'The body of the request arrives too slowly.');

/** A problem is a few hundred bytes. */
const PROBLEM_BYTES_MAX = 64 * 1024;

/** Sends the client what the service responds; an error without a problem becomes one. */
async function passOn(
  upstreamResponse: IncomingMessage,
  { context, owner, finish }: RunningStream,
  { timeoutMilliseconds }: Pick<UpstreamSettings, 'timeoutMilliseconds'>,
  turns: EventLoopTurns,
): Promise<void> {
  const status = upstreamResponse.statusCode ?? 502;
  const headers = responseHeaders(upstreamResponse.headers);
  if (status >= 400 && !isProblem(upstreamResponse.headers['content-type'])) {
    upstreamResponse.resume();
    context.sendProblem(problemOfStatus(status));
    finish();
  } else if (status >= 400 && isBodyPending(context.request)) {
    // Whoever sends all of a file before it reads must find the connection open until then.
    const body = await readProblem(upstreamResponse, timeoutMilliseconds);
    if (body) context.send({ status, headers, body });
    else context.sendProblem(problemOfStatus(status));
    finish();
  } else {
    context.writeHead(status, headers);
    context.response.flushHeaders();
    upstreamResponse.pipe(inTurns(owner, turns)).pipe(context.response);
  }
}

/**
 * The problem; undefined where it is too long, or does not arrive in time. What is left of it is discarded:
 * destroying the response of the service would destroy the client's.
 */
async function readProblem(
  upstreamResponse: IncomingMessage,
  millisecondsMax: number,
): Promise<Buffer | undefined> {
  const { promise, resolve } = Promise.withResolvers<Buffer | undefined>();
  const chunks: Buffer[] = [];
  let bytes = 0;
  const timer = setTimeout(() => resolve(undefined), millisecondsMax);
  upstreamResponse.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > PROBLEM_BYTES_MAX) resolve(undefined);
    else chunks.push(chunk);
  });
  upstreamResponse.once('end', () => resolve(Buffer.concat(chunks))).once('close', () => resolve(undefined));
  return promise.finally(() => clearTimeout(timer));
}

function fail({ context, sentAt }: RunningStream, upstream: Upstream, error: unknown): void {
  const { response } = context;
  if (response.destroyed || error instanceof Problem) upstream.breaker.abandoned();
  else if (error === TIMED_OUT) upstream.breaker.timedOut(sentAt);
  else upstream.breaker.failed();
  if (response.destroyed) return;
  if (response.headersSent) response.destroy();
  else context.sendProblem(problemOf(error, upstream));
}

function problemOf(error: unknown, upstream: Upstream): Problem {
  if (error instanceof Problem) return error;
  return error === TIMED_OUT ? upstream.timedOut(error) : upstream.unavailable(error);
}

/** The length of the body is forwarded as the client declared it. */
function framing({ headers }: IncomingMessage): Record<string, string> {
  const length = headers['content-length'];
  if (length !== undefined) return { 'content-length': length };
  return headers['transfer-encoding'] === undefined ? {} : { 'transfer-encoding': 'chunked' };
}

/**
 * The response to HEAD is over with its head, whatever its service still does for it, and that would keep the next request
 * on its connection waiting.
 */
const connectionOf = ({ method }: IncomingMessage): Record<string, string> =>
  method === 'HEAD' ? { connection: 'close' } : {};

function fromList(headers: HeaderList): Record<string, string> {
  const byName: Record<string, string> = {};
  for (let index = 0; index < headers.length; index += 2) byName[headers[index]!] = headers[index + 1]!;
  return byName;
}
