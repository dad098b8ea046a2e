import { cacheControlByPolicy, type Endpoint, type Success } from '../endpoint';
import { commonHeaders, JSON_TYPE, problemResponse } from './components';
import { exampleOf } from './examples';
import type { Json, SchemaCollection } from './schemas';
import type { OpenApiSettings } from './settings';

/** All responses of an endpoint by their status. */
export function responsesOf(endpoint: Endpoint, settings: OpenApiSettings, schemas: SchemaCollection): Json {
  const successes = [endpoint.success, ...(endpoint.alternatives ?? [])];
  const responses: Record<string, Json> = {};
  for (const success of successes) {
    const content = {
      ...(responses[success.status]?.['content'] as object | undefined),
      ...contentOf(success, schemas),
    };
    responses[success.status] = {
      description: [responses[success.status]?.['description'], success.description ?? descriptionOf(success)]
        .filter(Boolean)
        .join(' Or: '),
      headers: headersOf(endpoint, success),
      ...(Object.keys(content).length > 0 ? { content } : {}),
    };
  }
  if (endpoint.ranges) {
    const { headers, content } = responses[endpoint.success.status] as { headers: Json; content: Json };
    const range = { 'Content-Range': { $ref: '#/components/headers/Content-Range' } };
    responses['206'] = { description: 'The bytes of `Range`.', headers: { ...headers, ...range }, content };
    responses['416'] = { $ref: '#/components/responses/RangeNotSatisfiable' };
  }
  if (endpoint.method === 'GET' && endpoint.etag)
    responses['304'] = { $ref: '#/components/responses/NotModified' };
  for (const [status, response] of Object.entries(problemResponses(endpoint, settings)))
    responses[status] = response;
  return { ...responses, default: { $ref: '#/components/responses/Problem' } };
}

function descriptionOf({ status, body, file, events }: Success): string {
  if (events) return 'A stream of events.';
  if (file) return 'A file.';
  if (status === 201) return 'Created.';
  if (status === 202) return 'Accepted; the work continues after this response.';
  if (status === 207) return 'Each item has its own result.';
  return body ? 'The requested data.' : 'Done.';
}

function contentOf({ body, file, events }: Success, schemas: SchemaCollection): Json {
  const content: Json = {};
  if (body) {
    const schema = schemas.of(body);
    content[JSON_TYPE] = { schema, example: exampleOf(schema, schemas) };
  }
  for (const type of file ? ['application/octet-stream', ...file] : []) content[type] = {};
  // No schema: some readers of the document take one for that of the stream, others for that of each event.
  if (events) content['text/event-stream'] = {};
  return content;
}

function headersOf(endpoint: Endpoint, { status, file }: Success): Json {
  const { method, cache, etag } = endpoint;
  const writes = method !== 'GET';
  const names = [
    (status === 201 || status === 202) && 'Location',
    etag && 'ETag',
    file && 'Content-Disposition',
    isReplayed(endpoint) && 'X-Idempotency-Replayed',
    ...commonHeaders,
  ].filter((name) => typeof name === 'string');
  const cacheControl = cacheControlByPolicy[writes ? 'none' : (cache ?? 'none')];
  return {
    ...Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
    'Cache-Control': {
      description: 'How the response may be cached.',
      schema: { type: 'string', examples: [cacheControl] },
    },
  };
}

/** Whether a repeated request with an idempotency key gets the stored response. */
const isReplayed = ({ method, upload, showsSecret }: Endpoint): boolean =>
  method !== 'GET' && !upload && !showsSecret;

/** The problems of an endpoint, besides those that every endpoint can have. */
function problemResponses(
  endpoint: Endpoint,
  { problems, statusByKind }: OpenApiSettings,
): Record<string, Json> {
  const { access, params, query, list, body, ifMatch, method } = endpoint;
  const responses: Record<string, Json> = {
    // `X-Tenant-Id` may be malformed wherever there is a credential.
    ...(access.type !== 'anonymous' || params || query || list || body ? { 400: shared('Malformed') } : {}),
    ...(access.type === 'anonymous' ? {} : { 401: shared('Unauthenticated') }),
    ...(access.type === 'anonymous' ? {} : { 403: shared('Forbidden') }),
    ...(ifMatch ? { 409: responseOfSlugs(409, ['stale-version'], problems) } : {}),
    // Of every method, since no parameter of a query may hold NUL, whether the endpoint reads it or not.
    422: shared('Invalid'),
    429: shared('TooManyRequests'),
    503: shared('Unavailable'),
  };
  const slugsByStatus = new Map<number, string[]>(ifMatch ? [[409, ['stale-version']]] : []);
  for (const slug of endpoint.problems ?? []) {
    if (!problems[slug]) throw new Error(`${method} ${endpoint.path} names an unknown problem "${slug}".`);
    const status = statusByKind[problems[slug].kind];
    slugsByStatus.set(status, [...(slugsByStatus.get(status) ?? []), slug]);
  }
  for (const [status, slugs] of slugsByStatus) responses[status] = responseOfSlugs(status, slugs, problems);
  return responses;
}

const shared = (name: string): Json => ({ $ref: `#/components/responses/${name}` });

const responseOfSlugs = (
  status: number,
  slugs: readonly string[],
  problems: OpenApiSettings['problems'],
): Json =>
  problemResponse(
    status,
    slugs.map((slug) => `\`${slug}\`: ${problems[slug]?.title ?? slug}.`).join(' '),
    slugs,
  );
