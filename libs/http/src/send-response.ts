import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { cacheControlByPolicy, type Endpoint } from '@plinth/contracts/endpoint';
import { shareUsedUp } from '@plinth/contracts/platform/problems';
import { hashedEntityTag } from '@plinth/kernel/entity-tag';
import { jsonPieces } from '@plinth/kernel/json-pieces';
import type { Request } from 'express';
import type { ShareOwner } from '@plinth/kernel/fair-shares';
import type { ByteReservation } from '@plinth/runtime/process/byte-budget';
import type { EventLoopTurns, FairPlaces } from '@plinth/runtime/process/fair-places';
import { encodeInTurns, inTurns } from '@plinth/runtime/process/in-turns';
import { Problem } from '@plinth/kernel/problem';
import { endInOneWrite } from './end-in-one-write';
import { jsonSizeOf } from './json-size';
import { announceLateProblem } from './late-problem';
import { noneMatches } from './precondition';
import {
  attachment,
  EndpointResponse,
  type FileContent,
  type FilePart,
  type ServerSentEvent,
  type StoredFile,
} from './response';

const HEARTBEAT_MILLISECONDS = 15_000;
const PENDING_KEEP_ALIVE_MILLISECONDS = 10_000;
const OCTET_STREAM = 'application/octet-stream';

export interface SendOptions {
  /** `/api/v1`; precedes every location. */
  prefix: string;
  /** Parse each body by the contract, so that tests fail on every difference. */
  checkResponses: boolean;
  /** Where the bytes of a large response are counted until the client has it. */
  reservation: ByteReservation;
  /** Who gets the response. */
  owner: ShareOwner;
  /** In which the pieces of files and of large bodies are sent. */
  turns: EventLoopTurns;
  /** In which large bodies are encoded; without them each of many would have a part of the memory, and none end. */
  encodings: FairPlaces;
  /** Aborted when the client disconnects. */
  signal: AbortSignal;
}

/** Smaller responses are in memory for so short that they are not counted. */
const UNCOUNTED_BYTES_MAX = 64 * 1024;

/**
 * Counts what a response has in memory now.
 * @throws Problem `too-large`: it alone would hold more than half of what there is; `share-used-up` or `overloaded`: clients
 * that read slowly hold too many large responses
 */
function count(bytes: number, reservation: ByteReservation): void {
  if (bytes > reservation.singleMax)
    throw new Problem(
      'too-large',
      `The response is larger than ${reservation.singleMax} bytes; ask for less.`,
    );
  const refusal = bytes > UNCOUNTED_BYTES_MAX ? reservation.growTo(bytes) : undefined;
  if (refusal) throw shareUsedUp(refusal, 'large responses');
}

/** Sends the result of a handler: status, headers, and a body, a file or events. */
export async function sendResponse(
  endpoint: Endpoint,
  result: unknown,
  req: Request,
  res: ServerResponse,
  options: SendOptions,
): Promise<void> {
  const response = result instanceof EndpointResponse ? result : new EndpointResponse(undefined, result);
  const status = response.status ?? endpoint.success.status;
  const { etag, location, headers, json } = response.options;
  const reads = endpoint.method === 'GET';

  res.statusCode = status;
  res.setHeader('cache-control', reads ? cacheControlByPolicy[endpoint.cache ?? 'none'] : 'no-store');
  res.setHeader('x-content-type-options', 'nosniff');
  if (location) res.setHeader('location', options.prefix + location);
  for (const [name, value] of Object.entries(headers ?? {})) res.setHeader(name, value);

  if (response.events) return sendEvents(response.events, res);
  if (etag && (response.file || response.pending)) res.setHeader('etag', etag);
  if (response.file) return sendFile(response.file, endpoint, req, res, options);
  if (response.pending) return sendPending(response.pending, endpoint, status, res, options);
  if (options.checkResponses)
    checkResponse(endpoint, status, json === undefined ? response.body : JSON.parse(json.join('')));
  if ((response.body === undefined && json === undefined) || status === 204) {
    if (etag) res.setHeader('etag', etag);
    res.end();
    return;
  }

  const write = (): Promise<Buffer[]> => encode(json ?? jsonPieces(response.body), options);
  const gzip = chooseGzip(response, req, res);
  const knownTag = gzip && etag ? compressedTag(etag) : etag;
  // When the handler knows the tag, a body that will not be sent is not serialized.
  const isKnown = reads && knownTag !== undefined && noneMatches(req, knownTag);
  // What waits for its encoding is in memory too, but for what the handler keeps for everybody anyway.
  const isKept = response.options.gzip !== undefined && etag !== undefined;
  const size = isKnown || isKept ? 0 : json ? sumOf(json) : jsonSizeOf(response.body);
  count(size, options.reservation);
  if (gzip && !isKnown) {
    const headers = { 'content-encoding': 'gzip', ...(knownTag && { etag: knownTag }) };
    const compressed = await gzip(async () => Buffer.concat(await write()));
    options.reservation.release();
    return sendJson([compressed], res, options, headers);
  }
  const writeAtOnce = (): Buffer[] => [Buffer.from(JSON.stringify(response.body))];
  const isLarge = json !== undefined || response.options.gzip !== undefined || size > UNCOUNTED_BYTES_MAX;
  const body = isKnown ? [] : isLarge ? await write() : writeAtOnce();
  const tag = knownTag ?? (endpoint.etag ? hashedEntityTag(body) : undefined);
  if (tag) res.setHeader('etag', tag);
  if (isKnown || (reads && tag && noneMatches(req, tag))) {
    res.statusCode = 304;
    res.end();
    return;
  }
  return sendJson(body, res, options);
}

/**
 * Encodes a body in turns of the event loop. A large one waits for others; its bytes are counted before they are made, and
 * a client that disconnects ends it.
 */
async function encode(json: Iterable<string>, options: SendOptions): Promise<Buffer[]> {
  const { owner, turns, encodings } = options;
  const pieces = countedPieces(json, options);
  const first: string[] = [];
  const isSmall = await turns.take(owner, () => {
    let bytes = 0;
    while (bytes <= UNCOUNTED_BYTES_MAX) {
      const next = pieces.next();
      if (next.done) return true;
      first.push(next.value);
      bytes += Buffer.byteLength(next.value);
    }
    return false;
  });
  const encodeAll = (): Promise<Buffer[]> => encodeInTurns(joined(first, pieces), owner, turns);
  return isSmall ? encodeAll() : encodings.run(owner, encodeAll, options.signal);
}

function* countedPieces(
  json: Iterable<string>,
  { signal, reservation }: SendOptions,
): Generator<string, void> {
  let bytes = 0;
  for (const piece of json) {
    signal.throwIfAborted();
    bytes += Buffer.byteLength(piece);
    count(bytes, reservation);
    yield piece;
  }
}

/** The pieces that were made already are not kept. */
function* joined(first: string[], others: Iterable<string>): Generator<string, void> {
  yield* first.splice(0);
  yield* others;
}

function sendJson(
  pieces: readonly Buffer[],
  res: ServerResponse,
  options: SendOptions,
  headers: Record<string, string> = {},
): void {
  const length = sumOf(pieces);
  count(length, options.reservation);
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
  res.setHeader('content-type', 'application/json');
  res.setHeader('content-length', length);
  if (pieces.length === 1 && length <= UNCOUNTED_BYTES_MAX) endInOneWrite(res, pieces[0]!);
  else sendFromMemory(pieces, res, options);
}

/** Hands on a little at a time, so that it is known how much of it the client has read. */
function sendFromMemory(buffers: readonly Buffer[], res: ServerResponse, options: SendOptions): void {
  if (isForHead(res)) res.end();
  // Of a body in memory nothing fails but its client, and how long that reads is no time of ours.
  else sendPieces(Readable.from(shortPieces(buffers)), res, options).catch(() => undefined);
}

function* shortPieces(buffers: readonly Buffer[]): Generator<Buffer> {
  for (const buffer of buffers)
    for (let start = 0; start < buffer.length; start += UNCOUNTED_BYTES_MAX)
      yield buffer.subarray(start, start + UNCOUNTED_BYTES_MAX);
}

const sumOf = (pieces: readonly { length: number }[]): number =>
  pieces.reduce((sum, { length }) => sum + length, 0);

/** The compressed form of a response that has one, where the client accepts it. */
function chooseGzip({ options: { gzip } }: EndpointResponse<unknown>, req: Request, res: ServerResponse) {
  if (!gzip) return undefined;
  res.setHeader('vary', [res.getHeader('vary'), 'Accept-Encoding'].filter(Boolean).join(', '));
  return req.acceptsEncodings('gzip') === 'gzip' ? gzip : undefined;
}

/** Compressed, the bytes are others, so that they have a strong tag of their own (RFC 9110, 8.8.3.3). */
const compressedTag = (tag: string): string => tag.replace(/"$/, '-gzip"');

/** Keeps the connection alive with spaces until the body is known. */
async function sendPending(
  pending: Promise<unknown>,
  endpoint: Endpoint,
  status: number,
  res: ServerResponse,
  options: SendOptions,
): Promise<void> {
  res.setHeader('content-type', 'application/json');
  announceLateProblem(res);
  const keepAlive = setInterval(() => res.write(' '), PENDING_KEEP_ALIVE_MILLISECONDS);
  let encoded: Buffer[];
  try {
    const body = await pending;
    if (options.checkResponses) checkResponse(endpoint, status, body);
    count(jsonSizeOf(body), options.reservation);
    encoded = await encode(jsonPieces(body), options);
  } finally {
    clearInterval(keepAlive);
  }
  sendFromMemory(encoded, res, options);
}

function checkResponse(endpoint: Endpoint, status: number, body: unknown): void {
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
  options: SendOptions,
): Promise<void> {
  if (Buffer.isBuffer(file.content)) count(file.content.length, options.reservation);
  const exact = endpoint.success.file ?? endpoint.alternatives?.find((success) => success.file)?.file ?? [];
  const wanted = (req.headers.accept ?? '').split(',').map((type) => type.split(';')[0]?.trim());
  const isAccepted = exact.includes(file.type) && wanted.includes(file.type);
  res.setHeader('content-type', isAccepted ? file.type : OCTET_STREAM);
  res.setHeader('content-disposition', attachment(file.name));
  res.setHeader('vary', 'Accept');
  if (Buffer.isBuffer(file.content)) {
    res.setHeader('content-length', file.content.length);
    sendFromMemory([file.content], res, options);
    return;
  }
  // An error here closes the connection: the client must not take half a file for a whole one.
  if (!(file.content instanceof Readable)) await sendStoredFile(file.content, req, res, options);
  else if (isForHead(res)) {
    file.content.destroy();
    res.end();
  } else await sendPieces(file.content, res, options);
}

/** Sends a stored file: all of it, the part that the client asks for, or nothing where the client has it. */
async function sendStoredFile(
  file: StoredFile,
  req: Request,
  res: ServerResponse,
  options: SendOptions,
): Promise<void> {
  const etag = String(res.getHeader('etag'));
  if (noneMatches(req, etag)) {
    res.removeHeader('content-type');
    res.removeHeader('content-disposition');
    res.statusCode = 304;
    res.end();
    return;
  }
  const { sizeBytes } = file;
  res.setHeader('accept-ranges', 'bytes');
  if (isForHead(res)) {
    res.setHeader('content-length', sizeBytes);
    res.end();
    return;
  }
  const part = partOf(req, etag, sizeBytes);
  const content = await file.open(part);
  if (part) {
    res.statusCode = 206;
    res.setHeader('content-range', `bytes ${part.start}-${part.end}/${sizeBytes}`);
  }
  res.setHeader('content-length', part ? part.end - part.start + 1 : sizeBytes);
  await sendPieces(content, res, options);
}

/**
 * Whether the response has headers only. What is written to it is discarded without back-pressure, and for its client it is
 * over with them, so that it takes the next request on the connection to be the only one: nothing may go on behind it.
 */
const isForHead = (res: ServerResponse): boolean => res.req.method === 'HEAD';

/** Passes content on as fast as the client reads it. @throws `AbortError` where that disconnects */
const sendPieces = (
  content: Readable,
  res: ServerResponse,
  { owner, turns, signal }: SendOptions,
): Promise<void> => pipeline(content, inTurns(owner, turns), res, { signal });

/**
 * The part that `Range` names, RFC 9110, 14.2; undefined for all of the file: without the header, with one that is not
 * understood or names several parts, and where `If-Range` says that the client has a part of another version.
 * @throws Problem `range-not-satisfiable` for what lies behind the end
 */
function partOf(req: Request, etag: string, sizeBytes: number): FilePart | undefined {
  const condition = req.headers['if-range'];
  if (condition !== undefined && condition !== etag) return undefined;
  const ranges = req.range(sizeBytes);
  if (ranges === -1 && /^bytes *=/.test(String(req.headers.range)))
    throw new Problem('range-not-satisfiable', `The file has ${sizeBytes} bytes.`, { sizeBytes });
  if (ranges === undefined || typeof ranges === 'number' || ranges.type !== 'bytes') return undefined;
  return ranges.length === 1 ? ranges[0] : undefined;
}

async function sendEvents(stream: AsyncIterable<ServerSentEvent>, res: ServerResponse): Promise<void> {
  res.setHeader('content-type', 'text/event-stream');
  res.setHeader('cache-control', 'no-store');
  res.setHeader('x-accel-buffering', 'no');
  if (isForHead(res)) {
    res.end();
    return;
  }
  res.flushHeaders();
  const heartbeat = setInterval(() => res.write(': still here\n\n'), HEARTBEAT_MILLISECONDS);
  try {
    await pipeline(Readable.from(formatEvents(stream)), res);
  } catch (error) {
    // Most streams end because the client disconnects.
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
