import type { ListRules } from '@plinth/kernel/list-query';
import type { z } from 'zod';
import type { Permission } from './permissions';

/** Who may use an endpoint. `hostOnly` restricts what concerns all tenants to callers of the host tenant. */
export type Access =
  | { type: 'anonymous' }
  /** A credential is optional, but one that is not valid is refused. */
  | { type: 'optional' }
  | { type: 'authenticated' }
  | { type: 'permission'; permission: Permission; hostOnly?: boolean }
  /** The value of a path parameter decides. */
  | { type: 'by-parameter'; parameter: string; accessByValue: Record<string, Access> };

export const anonymous: Access = { type: 'anonymous' };
export const optional: Access = { type: 'optional' };
export const authenticated: Access = { type: 'authenticated' };
export const permission = (name: Permission, options: { hostOnly?: boolean } = {}): Access => ({
  type: 'permission',
  permission: name,
  ...options,
});

/** The access rule that applies to these path parameters. */
export function accessOf(access: Access, params: Record<string, string>): Access {
  if (access.type !== 'by-parameter') return access;
  return access.accessByValue[params[access.parameter] ?? ''] ?? authenticated;
}

/** `Cache-Control` by kind of data. Writes and errors are `no-store`. */
export const cacheControlByPolicy = {
  'user-data': 'private, no-cache',
  reference: 'public, max-age=3600',
  list: 'private, no-store',
  static: 'public, max-age=86400, immutable',
  'query-metadata': 'public, max-age=3600',
  none: 'no-store',
} as const;

export type CachePolicy = keyof typeof cacheControlByPolicy;

/** One way in which an endpoint succeeds. */
export interface Success {
  status: 200 | 201 | 202 | 204 | 207;
  /** JSON body; absent for 204 and for files. */
  body?: z.ZodType;
  /** A file: the exact types it may have, besides `application/octet-stream`. */
  file?: readonly string[];
  /** A stream of server-sent events. */
  events?: boolean;
  /** What the response is, in one sentence for the API reference. */
  description?: string;
}

/** Since when an endpoint is deprecated, and when it is removed (RFC 9745, RFC 8594). */
export interface Deprecation {
  since: string;
  sunset?: string;
  /** Migration information, as an absolute URL or a path below the public address. */
  link: string;
}

/**
 * One endpoint as data: validation, types, access, caching, API reference, client and gateway route come from it.
 * `path` is relative to the prefix; parameters are written `:name`.
 */
export interface Endpoint {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  summary: string;
  description?: string;
  access: Access;
  params?: z.ZodObject;
  query?: z.ZodObject;
  /** The list rules of a list endpoint; its response is a page. */
  list?: ListRules;
  /** The JSON body. `.nullish()` at the top makes it optional: then an empty body, or `null`, is accepted too. */
  body?: z.ZodType;
  /** The body is a multipart upload that the handler reads as a stream. */
  upload?: boolean;
  /** The text parts of an upload, besides the part `file`. */
  uploadFields?: z.ZodObject;
  success: Success;
  /** Other ways to succeed, such as 204 where the usual response is 201. */
  alternatives?: readonly Success[];
  /** Slugs of the problems of this endpoint, besides the general ones. */
  problems?: readonly string[];
  /** Required for GET. */
  cache?: CachePolicy;
  /** The response has a strong `ETag`, and GET responds with 304 to a matching `If-None-Match`. */
  etag?: boolean;
  /** A download that can be continued with `Range` where it was cut. */
  ranges?: boolean;
  /** It honours `If-Match`. */
  ifMatch?: boolean;
  /** A PUT that may create: with `If-None-Match: *` it creates, and replaces nothing. */
  ifNoneMatch?: boolean;
  /** Other paths with the same parameters that existing clients use; they are not part of the API reference. */
  aliases?: readonly string[];
  /** Also served at the root, without the prefix; as an alias it is not part of the API reference. */
  atRoot?: true | 'alias';
  /** A POST that changes nothing, or the same again: clients send it without an idempotency key, and may repeat it. */
  repeatable?: true;
  /** The response shows a secret once, so that it is never stored for a replay; a retry with its idempotency key runs again. */
  showsSecret?: boolean;
  /** A success revokes the API key `:id`: every gateway refuses it before the client gets the response. */
  revokesApiKey?: boolean;
  /** Class of rate limit; the policy of each class is configuration. */
  rateLimitClass?: 'default' | 'expensive';
  deprecated?: Deprecation;
}

/** Declares an endpoint and keeps its exact type. */
export const endpoint = <const E extends Endpoint>(definition: E): E => definition;

type Parsed<Schema> = Schema extends z.ZodType ? z.output<Schema> : Record<string, never>;

export type ParamsOf<E extends Endpoint> = E extends { params: infer Schema }
  ? Parsed<Schema>
  : Record<string, never>;
export type QueryOf<E extends Endpoint> = E extends { query: infer Schema }
  ? Parsed<Schema>
  : Record<string, never>;
export type BodyOf<E extends Endpoint> = E extends { body: infer Schema } ? Parsed<Schema> : undefined;

type BodyOfSuccess<S> = S extends { body: infer Schema extends z.ZodType } ? z.input<Schema> : undefined;

/** What a handler may send as the body of a successful response. */
export type ResponseBodyOf<E extends Endpoint> =
  BodyOfSuccess<E['success']> | (E extends { alternatives: readonly (infer S)[] } ? BodyOfSuccess<S> : never);

/** All endpoints of one service, by their names. */
export type Endpoints = Record<string, Endpoint>;
