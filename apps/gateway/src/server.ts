import {
  createServer,
  STATUS_CODES,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { problemResponse } from '@plinth/http/problem-details';
import { Problem } from '@plinth/kernel/problem';
import { HEADERS_KEPT_MAX, timeoutsCheckedEvery } from '@plinth/runtime/process/http-head';
import { networkOf } from './limits/policies';
import { readTrace } from './trace';

export interface ServerSettings {
  headersMilliseconds: number;
  idleMilliseconds: number;
  /** How long an unused connection is kept, and its client told that it is. */
  keepAlive: Pick<ServerOptions, 'keepAliveTimeout' | 'keepAliveTimeoutBuffer'>;
  connectionsMax: number;
  connectionsPerAddressMax: number;
  publicUrl: string;
  /** Headers of every response. */
  reporting: readonly string[];
}

/** One header may be large (a token with many claims); all of them together not larger than this. */
const HEADER_BYTES_MAX = 16 * 1024;
/** Requests of one connection whose responses are not sent yet: clients hardly ever send one before the last is done. */
const REQUESTS_PER_CONNECTION_MAX = 16;

/**
 * The HTTP server of the gateway with explicit limits: on the time and size of the headers of a request, on the time a
 * connection may be idle, on the requests of one connection at the same time, and on the connections of one address. What
 * breaks off is whole for no client. The time for a body is not limited here, because an upload may take long: the reader of
 * a body limits it.
 */
export function createPublicServer(handle: RequestListener, settings: ServerSettings): Server {
  const listener = limitPipelining((request, response) => {
    resetBrokenOff(request);
    handle(request, response);
  });
  const server = createServer(
    {
      maxHeaderSize: HEADER_BYTES_MAX,
      headersTimeout: settings.headersMilliseconds,
      requestTimeout: 0,
      ...settings.keepAlive,
      connectionsCheckingInterval: timeoutsCheckedEvery(settings.headersMilliseconds),
      requireHostHeader: false,
      insecureHTTPParser: false,
      noDelay: true,
    },
    listener,
  );
  // More than `requireSaneFraming` allows, so that it sees that there are too many.
  server.maxHeadersCount = HEADERS_KEPT_MAX;
  server.maxConnections = settings.connectionsMax;
  server.setTimeout(settings.idleMilliseconds);
  server.on('checkContinue', listener);
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    delete request.headers.expect;
    listener(request, response);
  });
  server.on('clientError', (error: ParserError, socket) => {
    refuse(socket, problemOfParser(error), pathIn(error.rawPacket), settings);
  });
  server.on('connect', (_request, socket) => {
    refuse(
      socket,
      new Problem('method-not-allowed', 'CONNECT is not supported: this server is not a proxy.', {
        allow: ['GET'],
      }),
      '/',
      settings,
    );
  });
  limitConnections(server, settings.connectionsPerAddressMax);
  return server;
}

/** An error of Node's parser, with the bytes that it was reading. */
type ParserError = NodeJS.ErrnoException & { rawPacket?: Buffer };

/** The path of a request that could not be read to its end, when the bytes begin with its request line. */
const pathIn = (bytes?: Buffer): string =>
  /^[A-Z]+ (\/[^\s?]*)/.exec(bytes?.toString('latin1') ?? '')?.[1] ?? '/';

function problemOfParser({ code }: ParserError): Problem {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new Problem('timed-out', 'The request did not arrive in time.');
    case 'HPE_HEADER_OVERFLOW':
      return new Problem(
        'headers-too-large',
        'The address and the headers of a request may have at most 16 KiB together.',
      );
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new Problem('too-large', 'The chunk extensions of the request are too large.');
    default:
      return new Problem('malformed', 'The request is not valid HTTP.');
  }
}

/** Sends a problem on a connection whose request could not be read, and closes the connection. */
function refuse(
  socket: Duplex,
  problem: Problem,
  instance: string,
  { publicUrl, reporting }: ServerSettings,
): void {
  if (!socket.writable || ('bytesWritten' in socket && hasBegunResponse(socket))) {
    socket.destroy();
    return;
  }
  const { traceId } = readTrace(undefined);
  const { status, headers, body } = problemResponse(problem, { instance, traceId, publicUrl });
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    ...pairs(reporting).map(([name, value]) => `${name}: ${value}`),
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    `x-request-id: ${traceId}`,
    'vary: Origin',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}

/** A response that has begun cannot be replaced by another. */
const hasBegunResponse = (socket: Duplex): boolean =>
  (socket as Duplex & { _httpMessage?: ServerResponse })._httpMessage?.headersSent ?? false;

const pairs = (list: readonly string[]): [string, string][] =>
  list.flatMap((name, index) => (index % 2 === 0 ? [[name, list[index + 1]!] as [string, string]] : []));

/**
 * Closes a connection that has too many requests without a response. Each of them takes memory, and they are few bytes: Node
 * reads all of a piece, and would keep their responses for a client that reads none.
 */
function limitPipelining(listener: RequestListener): RequestListener {
  const counts = new WeakMap<Socket, number>();
  return (request, response) => {
    const { socket } = request;
    // Those behind one that closed the connection are parsed all the same.
    if (socket.destroyed) return;
    const count = (counts.get(socket) ?? 0) + 1;
    if (count > REQUESTS_PER_CONNECTION_MAX) {
      socket.destroy();
      return;
    }
    counts.set(socket, count);
    response.once('close', () => counts.set(socket, counts.get(socket)! - 1));
    listener(request, response);
  };
}

/**
 * What a client of HTTP/1.0 reads of a response without a length is whole where the connection ends. Whatever ends it in the
 * middle of one, be it the service, a timeout or the end of this process, resets it.
 */
function resetBrokenOff({ httpVersion, socket }: IncomingMessage): void {
  if (httpVersion !== '1.0' || Object.hasOwn(socket, 'destroy')) return;
  const destroy = socket.destroy.bind(socket);
  socket.destroy = (error) => {
    socket.destroy = destroy;
    return hasBegunResponse(socket) ? socket.resetAndDestroy() : destroy(error);
  };
}

/** Closes connections beyond those that one address may have; see `networkOf`. */
export function limitConnections(server: Pick<Server, 'on'>, max: number): void {
  const countByAddress = new Map<string, number>();
  server.on('connection', (socket) => {
    const address = networkOf(socket.remoteAddress ?? '');
    const count = (countByAddress.get(address) ?? 0) + 1;
    countByAddress.set(address, count);
    socket.once('close', () => {
      const left = countByAddress.get(address)! - 1;
      if (left === 0) countByAddress.delete(address);
      else countByAddress.set(address, left);
    });
    if (count > max) socket.destroy();
  });
}
