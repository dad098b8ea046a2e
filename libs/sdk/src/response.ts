import type { Endpoint } from '@plinth/contracts/endpoint';
import type { z } from 'zod';
import { readEvents, type ReceivedEvent } from './events';

/** A file that is being received; read it once, or stop it with `cancel`. */
export class Download {
  constructor(private readonly response: Response) {}

  get stream(): ReadableStream<Uint8Array<ArrayBuffer>> {
    return this.response.body ?? new Blob([]).stream();
  }

  /** The name that the platform gives the file: one that stays in a folder and is not hidden there. */
  get fileName(): string | undefined {
    const header = this.response.headers.get('content-disposition') ?? '';
    const encoded = /filename\*=UTF-8''([^;]+)/i.exec(header)?.[1];
    const given = encoded === undefined ? /filename="([^"]*)"/i.exec(header)?.[1] : decoded(encoded);
    const name = given
      ?.split(/[\\/:]/)
      .at(-1)
      ?.replace(/\p{Cc}/gu, '')
      .replace(/^\.+/, '');
    return name === '' ? undefined : name;
  }

  get type(): string {
    return this.response.headers.get('content-type') ?? 'application/octet-stream';
  }

  get sizeBytes(): number | undefined {
    const length = this.response.headers.get('content-length');
    return length === null ? undefined : Number(length);
  }

  bytes = async (): Promise<Uint8Array> => new Uint8Array(await this.response.arrayBuffer());
  blob = (): Promise<Blob> => this.response.blob();
  text = (): Promise<string> => this.response.text();
  cancel = async (): Promise<void> => this.response.body?.cancel();
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** A value as it is in JSON: instants are strings. */
export type Wire<Value> = Value extends Date
  ? string
  : Value extends readonly (infer Item)[]
    ? Wire<Item>[]
    : Value extends object
      ? { [Key in keyof Value]: Wire<Value[Key]> }
      : Value;

type JsonPart<S> = S extends { body: infer Schema extends z.ZodType } ? Wire<z.output<Schema>> : never;
type FilePart<S> = S extends { file: readonly string[] } ? Download : never;
type EventsPart<S> = S extends { events: true } ? AsyncIterable<ReceivedEvent> : never;
type NothingPart<S> = S extends { body: z.ZodType } | { file: readonly string[] } | { events: true }
  ? never
  : undefined;
type BodyOfSuccess<S> = JsonPart<S> | FilePart<S> | EventsPart<S> | NothingPart<S>;

/** The body of a successful response of an endpoint. */
export type BodyOf<E extends Endpoint> =
  BodyOfSuccess<E['success']> | (E extends { alternatives: readonly (infer S)[] } ? BodyOfSuccess<S> : never);

export interface ApiResponse<Body> {
  status: number;
  body: Body;
  /** For `ifMatch` of a later change. */
  etag: string | undefined;
  /** The address of the created resource or of the running job. */
  location: string | undefined;
  /** The platform replayed the response of an earlier request with the same idempotency key. */
  isReplay: boolean;
  headers: Headers;
}

/** Reads a successful response: JSON, a file, events or no body. */
export async function readResponse(endpoint: Endpoint, response: Response): Promise<ApiResponse<unknown>> {
  const { status, headers } = response;
  return {
    status,
    body: await readBody(endpoint, response),
    etag: headers.get('etag') ?? undefined,
    location: headers.get('location') ?? undefined,
    isReplay: headers.get('x-idempotency-replayed') === 'true',
    headers,
  };
}

async function readBody(endpoint: Endpoint, response: Response): Promise<unknown> {
  const type = response.headers.get('content-type')?.split(';')[0];
  if (response.status === 204 || response.status === 304) return undefined;
  if (type === 'text/event-stream' && response.body) return readEvents(response.body);
  if (type === 'application/json' && endpoint.success.body) return response.json();
  const isFile = [endpoint.success, ...(endpoint.alternatives ?? [])].some(({ file }) => file);
  if (isFile) return new Download(response);
  return type === 'application/json' ? response.json() : undefined;
}
