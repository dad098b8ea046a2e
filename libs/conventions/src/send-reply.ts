import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { cacheControlByPolicy, type Endpoint } from '@plinth/contracts/endpoint';
import type { Request } from 'express';
import { attachment, Reply, type FileContent, type ServerSentEvent } from './reply';

const HEARTBEAT_MILLISECONDS = 15_000;
const STILL_HERE_MILLISECONDS = 10_000;
const OCTET_STREAM = 'application/octet-stream';

export interface SendOptions {
  /** `/api/v1`; goes before every location. */
  prefix: string;
  /** Parse each body by the contract, so that a test sees every difference. */
  checkReplies: boolean;
}

/** Sends what a handler answered: status, headers, and a body, a file or events. */
export async function sendReply(
  endpoint: Endpoint,
  answer: unknown,
  req: Request,
  res: ServerResponse,
  options: SendOptions,
): Promise<void> {
  const reply = answer instanceof Reply ? answer : new Reply(undefined, answer);
  const status = reply.status ?? endpoint.success.status;
  const { etag, location, headers } = reply.options;
  const reads = endpoint.method === 'GET';

  res.statusCode = status;
  res.setHeader('cache-control', reads ? cacheControlByPolicy[endpoint.cache ?? 'none'] : 'no-store');
  res.setHeader('x-content-type-options', 'nosniff');
  if (location) res.setHeader('location', options.prefix + location);
  for (const [name, value] of Object.entries(headers ?? {})) res.setHeader(name, value);

  if (reply.events) return sendEvents(reply.events, res);
  if (reply.file) return sendFile(reply.file, endpoint, req, res);
  if (reply.pending) return sendPending(reply.pending, endpoint, status, res, options);
  if (options.checkReplies) checkReply(endpoint, status, reply.body);
  if (reply.body === undefined || status === 204) {
    if (etag) res.setHeader('etag', etag);
    res.end();
    return;
  }

  // A tag that the handler knows spares writing a body that nobody needs.
  const isKnown = reads && etag !== undefined && noneMatches(req, etag);
  const body = isKnown ? '' : JSON.stringify(reply.body);
  const tag = etag ?? (endpoint.etag ? hashTag(body) : undefined);
  if (tag) res.setHeader('etag', tag);
  if (isKnown || (reads && tag && noneMatches(req, tag))) {
    res.statusCode = 304;
    res.end();
    return;
  }
  res.setHeader('content-type', 'application/json');
  res.setHeader('content-length', Buffer.byteLength(body));
  res.end(body);
}

/** Keeps the connection alive by spaces until the answer is known. */
async function sendPending(
  pending: Promise<unknown>,
  endpoint: Endpoint,
  status: number,
  res: ServerResponse,
  { checkReplies }: SendOptions,
): Promise<void> {
  res.setHeader('content-type', 'application/json');
  const stillHere = setInterval(() => res.write(' '), STILL_HERE_MILLISECONDS);
  try {
    const body = await pending;
    if (checkReplies) checkReply(endpoint, status, body);
    res.end(JSON.stringify(body));
  } finally {
    clearInterval(stillHere);
  }
}

/** A strong tag made from the bytes of an answer. */
const hashTag = (body: string): string =>
  `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`;

function noneMatches(req: Request, tag: string): boolean {
  const given = req.headers['if-none-match'];
  if (given === undefined) return false;
  return given.split(',').some((candidate) => ['*', tag].includes(candidate.trim().replace(/^W\//, '')));
}

function checkReply(endpoint: Endpoint, status: number, body: unknown): void {
  const successes = [endpoint.success, ...(endpoint.alternatives ?? [])];
  const success = successes.find((candidate) => candidate.status === status);
  if (!success)
    throw new Error(`The contract of ${endpoint.method} ${endpoint.path} has no status ${status}.`);
  if (success.body) success.body.parse(body === undefined ? undefined : JSON.parse(JSON.stringify(body)));
  else if (body !== undefined)
    throw new Error(`The contract of ${endpoint.method} ${endpoint.path} has no body.`);
}

async function sendFile(
  file: FileContent,
  endpoint: Endpoint,
  req: Request,
  res: ServerResponse,
): Promise<void> {
  const exact = endpoint.success.file ?? endpoint.alternatives?.find((success) => success.file)?.file ?? [];
  const wanted = (req.headers.accept ?? '').split(',').map((type) => type.split(';')[0]?.trim());
  const isAskedFor = exact.includes(file.type) && wanted.includes(file.type);
  res.setHeader('content-type', isAskedFor ? file.type : OCTET_STREAM);
  res.setHeader('content-disposition', attachment(file.name));
  res.setHeader('vary', 'Accept');
  if (Buffer.isBuffer(file.content)) {
    res.setHeader('content-length', file.content.length);
    res.end(file.content);
    return;
  }
  if (file.sizeBytes !== undefined) res.setHeader('content-length', file.sizeBytes);
  // A failure on the way breaks the connection: the client must not take half a file for a whole one.
  await pipeline(file.content, res);
}

async function sendEvents(stream: AsyncIterable<ServerSentEvent>, res: ServerResponse): Promise<void> {
  res.setHeader('content-type', 'text/event-stream');
  res.setHeader('cache-control', 'no-store');
  res.setHeader('x-accel-buffering', 'no');
  res.flushHeaders();
  const heartbeat = setInterval(() => res.write(': still here\n\n'), HEARTBEAT_MILLISECONDS);
  try {
    await pipeline(Readable.from(formatEvents(stream)), res);
  } catch (error) {
    // A client that goes away is how most streams end.
    if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  } finally {
    clearInterval(heartbeat);
  }
}

async function* formatEvents(stream: AsyncIterable<ServerSentEvent>): AsyncIterable<string> {
  for await (const { id, event, data } of stream) {
    yield `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
  }
}
