import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { CALLER_HEADER } from '@plinth/runtime/rpc/signed-caller';
import type { HeaderList } from '../request-context';
import { traceparent, type Trace } from '../trace';

/** The only headers of a client that a service receives. */
const FORWARDED = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'content-encoding',
  'content-type',
  'if-match',
  'if-none-match',
  'if-range',
  'last-event-id',
  'range',
]);

/** Headers of a single connection, and headers that only the gateway sets. */
const NOT_RETURNED = new Set([
  'connection',
  'date',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'ratelimit',
  'ratelimit-policy',
  'server',
  'set-cookie',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-content-type-options',
  'x-powered-by',
  'x-request-id',
]);

/** The headers of a request to a service: those of the list, the trace, and the signed caller. */
export function requestHeaders(request: IncomingMessage, trace: Trace, signedCaller: string): HeaderList {
  const headers: HeaderList = [CALLER_HEADER, signedCaller, 'traceparent', traceparent(trace)];
  const raw = request.rawHeaders;
  const connectionOnly =
    request.headers.connection === undefined ? '' : request.headers.connection.toLowerCase();
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index]!.toLowerCase();
    if (FORWARDED.has(name) && !isNamedIn(connectionOnly, name)) headers.push(name, raw[index + 1]!);
  }
  return headers;
}

const isNamedIn = (connection: string, name: string): boolean =>
  connection !== '' && connection.split(',').some((option) => option.trim() === name);

/** The headers of a service's response that the client gets. */
export function responseHeaders(headers: IncomingHttpHeaders): HeaderList {
  const returned: HeaderList = [];
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined || NOT_RETURNED.has(name) || isReserved(name)) continue;
    if (Array.isArray(value)) for (const one of value) returned.push(name, one);
    else returned.push(name, value);
  }
  return returned;
}

const isReserved = (name: string): boolean =>
  name.startsWith('access-control-') || name.startsWith('x-plinth-') || name.startsWith('api-');
