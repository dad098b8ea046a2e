import type { Endpoint } from '@plinth/contracts/endpoint';
import type { z } from 'zod';
import { streamedForm } from './streamed-form';

/** The parameters of every list; the API reference has the sortable and filterable fields of each one. */
export interface ListInput {
  page?: number;
  pageSize?: number;
  /** Comma-separated fields, `-` before a field for descending. */
  sort?: string;
  skipTotalCount?: boolean;
  /** Empty for the first page of cursor mode. */
  cursor?: string;
  /** `{ 'name.contains': 'x' }` */
  filter?: Record<string, string>;
  presets?: Record<string, string>;
  quickFilters?: string;
  search?: string;
  /** Of imports and export jobs: their state. */
  status?: string;
}

/** The options of every request, besides the input of its endpoint. */
export interface CallOptions {
  /** Changes the resource only while it has this entity tag. */
  ifMatch?: string | undefined;
  /** Returns 304 (body undefined) while the resource has this entity tag; `*` on a PUT only creates. */
  ifNoneMatch?: string | undefined;
  /** By default the client makes a key for every write that changes something. */
  idempotencyKey?: string | undefined;
  headers?: Record<string, string> | undefined;
  signal?: AbortSignal | undefined;
}

type MayHave<Name extends string, Value> = { [Key in Name]?: Value };
type MustHave<Name extends string, Value> = { [Key in Name]: Value };
/** A member that is optional when all of its own members are. */
type Member<Name extends string, Value> =
  Record<never, never> extends Value ? MayHave<Name, Value> : MustHave<Name, Value>;
type OptionalBody<Body> = undefined extends Body ? MayHave<'body', Body> : MustHave<'body', Body>;

type ParamsPart<E> = E extends { params: infer S extends z.ZodType } ? { params: z.input<S> } : unknown;
type ListPart<E> = E extends { list: object } ? { list?: ListInput } : unknown;
type QueryPart<E> = E extends { query: infer S extends z.ZodType } ? Member<'query', z.input<S>> : unknown;
type BodyPart<E> = E extends { body: infer S extends z.ZodType } ? OptionalBody<z.input<S>> : unknown;
type FieldsPart<E> = E extends { uploadFields: infer S extends z.ZodType }
  ? { fields: z.input<S> }
  : { fields?: Record<string, string> };
type UploadPart<E> = E extends { upload: true } ? UploadedFile & FieldsPart<E> : unknown;

/** A file to upload. */
export interface UploadedFile {
  file: Blob;
  fileName?: string;
  /**
   * In Node only: reads the file while it is sent, since its `fetch` holds all of a form in memory. Browsers read it so by
   * themselves, and refuse such a body.
   */
  isStreamed?: boolean;
}

/** The input of an endpoint. */
export type InputOf<E extends Endpoint> = ParamsPart<E> &
  ListPart<E> &
  QueryPart<E> &
  BodyPart<E> &
  UploadPart<E> &
  CallOptions;

/** The same without the types of an endpoint, for the implementation of the client. */
export interface AnyInput extends CallOptions {
  params?: Record<string, unknown>;
  list?: ListInput;
  query?: Record<string, unknown>;
  body?: unknown;
  file?: Blob;
  fileName?: string;
  isStreamed?: boolean;
  fields?: Record<string, string>;
}

/** The path and query of a request, below the prefix. @throws RangeError for a value that cannot be part of a URL path */
export function addressOf(endpoint: Endpoint, input: AnyInput): string {
  const path = endpoint.path.replace(/:(\w+)/g, (_, name: string) => pathPart(String(input.params?.[name])));
  const { filter, presets, ...list } = input.list ?? {};
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...list, ...input.query })) {
    if (value !== undefined && value !== null) query.append(name, String(value));
  }
  for (const [key, value] of Object.entries(filter ?? {})) query.append(`filter[${key}]`, value);
  for (const [key, value] of Object.entries(presets ?? {})) query.append(`presets[${key}]`, value);
  return query.size > 0 ? `${path}?${query}` : path;
}

/** URLs treat `.` and `..` as relative segments in every encoding. */
function pathPart(value: string): string {
  if (value === '' || value === '.' || value === '..')
    throw new RangeError(`"${value}" cannot be part of a path.`);
  return encodeURIComponent(value);
}

/**
 * The body of a request and what belongs to it, for each attempt: all of them send what it was when the function was called,
 * and only a stream is made anew. `fetch` sets the type of a form.
 */
export function contentOf(
  endpoint: Endpoint,
  input: AnyInput,
): () => { init: RequestInit; headers?: Record<string, string> } {
  if (endpoint.upload) {
    const form = formOf(input);
    return input.isStreamed ? () => streamedForm(form) : () => ({ init: { body: form } });
  }
  if (input.body === undefined) return () => ({ init: {} });
  const content = {
    init: { body: JSON.stringify(input.body) },
    headers: { 'content-type': 'application/json' },
  };
  return () => content;
}

function formOf({ file, fileName, fields }: AnyInput): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields ?? {})) form.append(name, value);
  form.append('file', file!, fileName ?? (file instanceof File ? file.name : 'file'));
  return form;
}
