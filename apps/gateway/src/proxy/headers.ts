import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { CALLER_HEADER } from '@plinth/runtime/signed-caller';
import type { HeaderList } from '../exchange';
import { traceparent, type Trace } from '../trace';

/** All that a service gets to see of the client's headers. */
const FORWARDED = new Set([
  'accept',
  'accept-language',
  'content-encoding',
  'content-type',
  'if-match',
  'if-none-match',
  'last-event-id',
  'range',
]);

/** What concerns one connection only, or is the gateway's own to say. */
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

/** The headers of a service's answer that the client gets. */
export function replyHeaders(headers: IncomingHttpHeaders): HeaderList {
  const kept: HeaderList = [];
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined || NOT_RETURNED.has(name) || isReserved(name)) continue;
    if (Array.isArray(value)) for (const one of value) kept.push(name, one);
    else kept.push(name, value);
  }
  return kept;
}

const isReserved = (name: string): boolean =>
  name.startsWith('access-control-') || name.startsWith('x-plinth-') || name.startsWith('api-');
