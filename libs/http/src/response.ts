import type { Readable } from 'node:stream';

export interface ResponseOptions {
  /** Strong entity tag, quotes included. */
  etag?: string | undefined;
  /** Path of the created resource or of the running job, below the prefix: `/templates/welcome`. */
  location?: string | undefined;
  headers?: Record<string, string> | undefined;
  /**
   * The body is large and has no secrets beside texts of others: its JSON is written in turns of the event loop, and
   * clients that accept gzip get it as this compresses it.
   */
  gzip?: ((json: () => Promise<Buffer>) => Promise<Buffer>) | undefined;
  /** The JSON of the body in pieces, instead of a body. */
  json?: readonly string[] | undefined;
}

/** Bytes of a file; both ends count. */
export interface FilePart {
  start: number;
  end: number;
}

/** A file that is stored, so that any part of it can be read. */
export interface StoredFile {
  sizeBytes: number;
  /** Opens the file, or a part of it. */
  open(part?: FilePart): Promise<Readable>;
}

/** A file to send to the client. */
export interface FileContent {
  /** Clients can continue the download of a stored file where it was cut; that needs an `etag` of the response. */
  content: Readable | Buffer | StoredFile;
  name: string;
  /** The exact media type; sent only to clients that accept it. */
  type: string;
}

/** One server-sent event. */
export interface ServerSentEvent {
  id?: string;
  event: string;
  data: unknown;
}

/** The response of a handler when a plain body is not enough. */
export class EndpointResponse<Body> {
  constructor(
    readonly status: number | undefined,
    readonly body: Body,
    readonly options: ResponseOptions = {},
    readonly file?: FileContent,
    readonly events?: AsyncIterable<ServerSentEvent>,
    readonly pending?: Promise<Body>,
  ) {}
}

/** The usual response of the endpoint, with headers. */
export const ok = <Body>(body: Body, options: ResponseOptions = {}): EndpointResponse<Body> =>
  new EndpointResponse(undefined, body, options);

/**
 * The usual response, whose JSON the database made: a process that read and wrote it again would keep everybody waiting
 * where it is large. So would one large piece: each is sent in a turn of the event loop.
 */
export const okJson = (json: readonly string[], options: ResponseOptions = {}): EndpointResponse<undefined> =>
  new EndpointResponse(undefined, undefined, { ...options, json });

/**
 * The usual response, for work that may take longer than the timeouts of proxies: a slow response begins with spaces,
 * which JSON allows. A problem after that is in a trailer, of which the gateway makes the response while it has sent nothing.
 */
export const slow = <Body>(work: Promise<Body>, options: ResponseOptions = {}): EndpointResponse<Body> =>
  new EndpointResponse(undefined, undefined as Body, options, undefined, undefined, work);

/** 201: created at `location`. */
export const created = <Body>(
  body: Body,
  location: string,
  options: ResponseOptions = {},
): EndpointResponse<Body> => new EndpointResponse(201, body, { ...options, location });

/** 202: still running; `location` has its progress. */
export const accepted = <Body>(
  body: Body,
  location: string,
  options: ResponseOptions = {},
): EndpointResponse<Body> => new EndpointResponse(202, body, { ...options, location });

/** 204: done, without a body. */
export const noContent = (options: ResponseOptions = {}): EndpointResponse<undefined> =>
  new EndpointResponse(204, undefined, options);

/** A file to download. */
export const file = (content: FileContent, options: ResponseOptions = {}): EndpointResponse<undefined> =>
  new EndpointResponse(200, undefined, options, content);

/** A stream of server-sent events that ends with the iterable or with the client. */
export const events = (stream: AsyncIterable<ServerSentEvent>): EndpointResponse<undefined> =>
  new EndpointResponse(200, undefined, {}, undefined, stream);

/** `Content-Disposition` (RFC 6266): the true name comes before the ASCII one, for clients that take the first. */
export function attachment(name: string): string {
  const clean =
    name
      .slice(0, 255)
      .toWellFormed()
      .replace(/[\p{Cc}\p{Cf}/\\]/gu, '_') || 'file';
  const ascii = clean.replace(/[^\x20-\x7e]/g, '_').replace(/["%]/g, '_');
  const encoded = encodeURIComponent(clean).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename*=UTF-8''${encoded}; filename="${ascii}"`;
}
