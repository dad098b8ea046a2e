import type { Readable } from 'node:stream';
import type { BatchResult } from '@plinth/kernel/batch-result';

export interface ReplyOptions {
  /** Strong entity tag, quotes included. */
  etag?: string | undefined;
  /** Path of what was made or is being made, below the prefix: `/templates/welcome`. */
  location?: string | undefined;
  headers?: Record<string, string> | undefined;
}

/** A file on its way to the client. */
export interface FileContent {
  content: Readable | Buffer;
  name: string;
  /** The exact media type; sent only to clients that ask for it. */
  type: string;
  sizeBytes?: number;
}

/** One server-sent event. */
export interface ServerSentEvent {
  id?: string;
  event: string;
  data: unknown;
}

/** What a handler answers when a plain body does not say enough. */
export class Reply<Body> {
  constructor(
    readonly status: number | undefined,
    readonly body: Body,
    readonly options: ReplyOptions = {},
    readonly file?: FileContent,
    readonly events?: AsyncIterable<ServerSentEvent>,
    readonly pending?: Promise<Body>,
  ) {}
}

/** The usual answer of the endpoint, with headers. */
export const ok = <Body>(body: Body, options: ReplyOptions = {}): Reply<Body> =>
  new Reply(undefined, body, options);

/**
 * The usual answer, for work that may outlast the patience of whatever stands between: where it takes long, the answer
 * begins with spaces, which JSON allows. A failure after that breaks the connection off.
 */
export const slow = <Body>(work: Promise<Body>): Reply<Body> =>
  new Reply(undefined, undefined as Body, {}, undefined, undefined, work);

/** 201: made, and to be found at `location`. */
export const created = <Body>(body: Body, location: string, options: ReplyOptions = {}): Reply<Body> =>
  new Reply(201, body, { ...options, location });

/** 202: it is being done; `location` tells how far it is. */
export const accepted = <Body>(body: Body, location: string, options: ReplyOptions = {}): Reply<Body> =>
  new Reply(202, body, { ...options, location });

/** 204: done, nothing to tell. */
export const noContent = (options: ReplyOptions = {}): Reply<undefined> => new Reply(204, undefined, options);

/** 207: each item has its own result. */
export const multiStatus = <Value>(result: BatchResult<Value>): Reply<BatchResult<Value>> =>
  new Reply(207, result);

/** A file to keep. */
export const file = (content: FileContent, options: ReplyOptions = {}): Reply<undefined> =>
  new Reply(200, undefined, options, content);

/** A stream of server-sent events that ends with the iterable or with the client. */
export const events = (stream: AsyncIterable<ServerSentEvent>): Reply<undefined> =>
  new Reply(200, undefined, {}, undefined, stream);

/** `Content-Disposition` that every client reads: an ASCII name, and the true one (RFC 6266). */
export function attachment(name: string): string {
  const clean =
    name
      .replace(/[\p{Cc}\p{Cf}/\\]/gu, '_')
      .slice(0, 255)
      .toWellFormed() || 'file';
  const ascii = clean.replace(/[^\x20-\x7e]/g, '_').replace(/["%]/g, '_');
  const encoded = encodeURIComponent(clean).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}
