/**
 * The OpenAPI document of the platform, made from the contracts.
 * Whatever it says is what the pipeline does, because both read the same declarations.
 */
import type { ProblemKind, ProblemType } from '@plinth/kernel/problem';
import type { z } from 'zod';
import {
  accessOf,
  cacheControlByPolicy,
  type Access,
  type Endpoint,
  type Endpoints,
  type Success,
} from './endpoint';
import { listParameters, parameter } from './openapi-list-parameters';
import { exampleOf, SchemaCollection, type JsonSchema } from './openapi-schemas';

export interface OpenApiSettings {
  endpoints: Readonly<Record<string, Endpoints>>;
  problems: Readonly<Record<string, ProblemType>>;
  statusByKind: Readonly<Record<ProblemKind, number>>;
  prefix: string;
}

type Json = Record<string, unknown>;

const titles: Record<string, string> = {
  settings: 'Settings',
  localization: 'Localization',
  template: 'Templates',
  timeline: 'Timeline',
  workflow: 'Workflow',
  'data-exchange': 'Data exchange',
};

const JSON_TYPE = 'application/json';
const PROBLEM_TYPE = 'application/problem+json';
const IDEMPOTENT = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

/** Describes every endpoint, parameter, header, answer and problem. */
export function openApiDocument(settings: OpenApiSettings): Json {
  const schemas = new SchemaCollection();
  const paths: Record<string, Json> = {};
  for (const [area, endpoints] of Object.entries(settings.endpoints)) {
    for (const [name, endpoint] of Object.entries(endpoints)) {
      const path = pathOf(endpoint, settings.prefix);
      (paths[path] ??= {})[endpoint.method.toLowerCase()] = operation(
        area,
        name,
        endpoint,
        settings,
        schemas,
      );
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Plinth',
      version: INTERFACE_VERSION,
      description: DESCRIPTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'This installation' }],
    tags: [...Object.keys(settings.endpoints), 'platform'].map((area) => ({ name: tagOf(area) })),
    security: [{ bearer: [] }],
    paths: { ...sorted(paths), ...platformPaths() },
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'A token of a trusted issuer.',
        },
      },
      parameters: sharedParameters,
      headers: sharedHeaders,
      responses: sharedResponses,
      schemas: sorted({ ...schemas.components, ...problemSchemas }),
    },
  };
}

const INTERFACE_VERSION = '1.0';
const DESCRIPTION = `Templates, localization, data exchange, timeline, settings and workflow behind one address.

- Failures are \`application/problem+json\`; the member \`type\` leads to a page about the problem.
- The version is the segment \`/v1\`; without it the query parameter \`api-version\` decides, then the default.
- Writes accept \`Idempotency-Key\`: a repeated request is answered again and not executed again.
- Lists take \`page\` and \`pageSize\`, or a \`cursor\` where it is offered.`;

const tagOf = (area: string): string =>
  titles[area] ?? area.charAt(0).toUpperCase() + area.slice(1).replaceAll('-', ' ');

const pathOf = ({ path, atRoot }: Endpoint, prefix: string): string =>
  (atRoot ? '' : prefix) + path.replace(/:(\w+)/g, '{$1}');

const sorted = <Value>(record: Record<string, Value>): Record<string, Value> =>
  Object.fromEntries(Object.entries(record).sort(([left], [right]) => (left < right ? -1 : 1)));

function operation(
  area: string,
  name: string,
  endpoint: Endpoint,
  settings: OpenApiSettings,
  schemas: SchemaCollection,
): Json {
  const { deprecated, access, description } = endpoint;
  return {
    operationId: name,
    tags: [tagOf(area)],
    summary: endpoint.summary,
    description: [
      description,
      accessNote(access),
      endpoint.atRoot && `Also at \`${settings.prefix}${endpoint.path}\`.`,
    ]
      .filter(Boolean)
      .join('\n\n'),
    ...(deprecated ? { deprecated: true } : {}),
    ...securityOf(access),
    parameters: parametersOf(endpoint, schemas),
    ...requestBodyOf(endpoint, schemas),
    responses: responsesOf(endpoint, settings, schemas),
  };
}

/** A permission stands where OpenAPI 3.1 names the roles that a credential must have. */
function securityOf(access: Access): Json {
  switch (access.type) {
    case 'anonymous':
      return { security: [] };
    case 'optional':
      return { security: [{}, { bearer: [] }] };
    case 'permission':
      return { security: [{ bearer: [access.permission] }] };
    default:
      return {};
  }
}

function accessNote(access: Access): string {
  switch (access.type) {
    case 'anonymous':
      return 'Needs no credential.';
    case 'optional':
      return 'Needs no credential, but takes one.';
    case 'authenticated':
      return 'For everybody who is signed in.';
    case 'permission':
      return `Needs the permission \`${access.permission}\`${access.hostOnly ? ' and a caller of the host tenant' : ''}.`;
    case 'by-parameter':
      return Object.keys(access.accessByValue)
        .map((value) => `- \`${value}\`: ${accessNote(accessOf(access, { [access.parameter]: value }))}`)
        .join('\n');
  }
}

function parametersOf(endpoint: Endpoint, schemas: SchemaCollection): Json[] {
  const { method, path, access } = endpoint;
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!);
  const inPath = names.map((name) => {
    const shape = endpoint.params?.shape[name] as z.ZodType | undefined;
    return parameter(
      'path',
      name,
      shape ? withoutEmpty(schemas.of(shape)) : { type: 'string', minLength: 1 },
      true,
    );
  });
  const shared = [
    endpoint.ifMatch && 'IfMatch',
    method === 'GET' && endpoint.etag && 'IfNoneMatch',
    access.type !== 'anonymous' && 'TenantId',
    IDEMPOTENT.has(method) && !endpoint.upload && !endpoint.binary && 'IdempotencyKey',
  ].filter((name) => typeof name === 'string');
  return [
    ...inPath,
    ...queryParameters(endpoint, schemas),
    ...shared.map((name) => ({ $ref: `#/components/parameters/${name}` })),
  ];
}

/** A segment of a path cannot be empty. */
const withoutEmpty = (schema: JsonSchema): JsonSchema =>
  schema['type'] === 'string' && schema['minLength'] === undefined && !schema['enum']
    ? { ...schema, minLength: 1 }
    : schema;

function queryParameters({ query, list }: Endpoint, schemas: SchemaCollection): Json[] {
  const own = Object.entries(query?.shape ?? {}).map(([name, shape]) => {
    const type = shape as z.ZodType;
    return parameter('query', name, schemas.of(type), !type.safeParse(undefined).success);
  });
  const named = new Set(own.map(({ name }) => name));
  return [...own, ...(list ? listParameters(list) : []).filter(({ name }) => !named.has(name))];
}

function requestBodyOf({ body, upload, uploadFields, binary }: Endpoint, schemas: SchemaCollection): Json {
  if (upload)
    return {
      requestBody: {
        required: true,
        content: { 'multipart/form-data': { schema: uploadSchema(uploadFields, schemas) } },
      },
    };
  if (binary) return { requestBody: { required: true, content: { 'application/octet-stream': {} } } };
  if (!body) return {};
  const schema = schemas.of(body);
  const isRequired = !body.safeParse(undefined).success;
  return {
    requestBody: {
      required: isRequired,
      content: { [JSON_TYPE]: { schema, example: exampleOf(schema, schemas) } },
    },
  };
}

function uploadSchema(fields: z.ZodObject | undefined, schemas: SchemaCollection): JsonSchema {
  const text = fields ? schemas.resolve(schemas.of(fields)) : {};
  return {
    type: 'object',
    properties: {
      file: { type: 'string', contentMediaType: 'application/octet-stream', minLength: 1 },
      ...(text['properties'] as object),
    },
    required: ['file', ...((text['required'] as string[] | undefined) ?? [])],
  };
}

function responsesOf(endpoint: Endpoint, settings: OpenApiSettings, schemas: SchemaCollection): Json {
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
  if (status === 202) return 'Accepted; it goes on after this answer.';
  if (status === 207) return 'Each item succeeded or failed on its own.';
  return body ? 'What was asked for.' : 'Done.';
}

function contentOf({ body, file, events }: Success, schemas: SchemaCollection): Json {
  const content: Json = {};
  if (body) {
    const schema = schemas.of(body);
    content[JSON_TYPE] = { schema, example: exampleOf(schema, schemas) };
  }
  for (const type of file ? ['application/octet-stream', ...file] : []) content[type] = {};
  if (events) content['text/event-stream'] = { schema: { type: 'string' } };
  return content;
}

function headersOf({ method, cache, etag, ifMatch }: Endpoint, { status, file }: Success): Json {
  const writes = IDEMPOTENT.has(method);
  const names = [
    (status === 201 || status === 202) && 'Location',
    (etag || ifMatch) && 'ETag',
    file && 'Content-Disposition',
    writes && 'X-Idempotency-Replayed',
    ...everywhere,
  ].filter((name) => typeof name === 'string');
  const cacheControl = cacheControlByPolicy[writes ? 'none' : (cache ?? 'none')];
  return {
    ...Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
    'Cache-Control': {
      description: 'How the answer may be kept.',
      schema: { type: 'string', examples: [cacheControl] },
    },
  };
}

/** What an endpoint is known to fail with, beside the problems that anything can fail with. */
function problemResponses(
  endpoint: Endpoint,
  { problems, statusByKind }: OpenApiSettings,
): Record<string, Json> {
  const { access, params, query, list, body, ifMatch, method } = endpoint;
  const responses: Record<string, Json> = {
    ...(params || query || list || body ? { 400: shared('Malformed') } : {}),
    ...(access.type === 'anonymous' ? {} : { 401: shared('Unauthenticated') }),
    ...(access.type === 'anonymous' ? {} : { 403: shared('Forbidden') }),
    ...(ifMatch ? { 409: problemResponse(409, ['stale-version'], problems) } : {}),
    ...(body || IDEMPOTENT.has(method) ? { 422: shared('Invalid') } : {}),
    429: shared('TooManyRequests'),
    503: shared('Unavailable'),
  };
  const slugsByStatus = new Map<number, string[]>(ifMatch ? [[409, ['stale-version']]] : []);
  for (const slug of endpoint.problems ?? []) {
    if (!problems[slug]) throw new Error(`${method} ${endpoint.path} names an unknown problem "${slug}".`);
    const status = statusByKind[problems[slug].kind];
    slugsByStatus.set(status, [...(slugsByStatus.get(status) ?? []), slug]);
  }
  for (const [status, slugs] of slugsByStatus) responses[status] = problemResponse(status, slugs, problems);
  return responses;
}

const shared = (name: string): Json => ({ $ref: `#/components/responses/${name}` });

const problemResponse = (
  status: number,
  slugs: readonly string[],
  problems: OpenApiSettings['problems'],
): Json =>
  problemAnswer(status, slugs.map((slug) => `\`${slug}\`: ${problems[slug]?.title ?? slug}.`).join(' '));

const problemAnswer = (status: number, description: string): Json => ({
  description,
  headers: {
    ...(status === 429 || status === 503
      ? { 'Retry-After': { $ref: '#/components/headers/Retry-After' } }
      : {}),
    ...Object.fromEntries(everywhere.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
  },
  content: {
    [PROBLEM_TYPE]: {
      schema: {
        $ref: `#/components/schemas/${status === 422 ? 'ValidationProblemDetails' : 'ProblemDetails'}`,
      },
    },
  },
});

/** Headers of every answer. */
const everywhere = [
  'api-supported-versions',
  'api-deprecated-versions',
  'X-Request-Id',
  'RateLimit',
  'RateLimit-Policy',
];

const header = (description: string, schema: JsonSchema = { type: 'string' }): Json => ({
  description,
  schema,
});

const sharedHeaders: Json = {
  Location: header('Where to find what was made.'),
  ETag: header('The version of what is answered; give it back in `If-Match` or `If-None-Match`.'),
  'Content-Disposition': header('The name of the file.'),
  'Retry-After': header('Seconds to wait before trying again.', { type: 'integer', minimum: 0 }),
  'X-Idempotency-Replayed': header('`true` when a stored answer is given again.'),
  'X-Request-Id': header('The trace id of the request.'),
  'api-supported-versions': header('Versions that are supported.'),
  'api-deprecated-versions': header('Versions that will go away.'),
  RateLimit: header('What is left of the limit that runs out first.'),
  'RateLimit-Policy': header('The limits that apply.'),
};

const headerParameter = (name: string, description: string, schema: JsonSchema): Json => ({
  name,
  in: 'header',
  required: false,
  description,
  schema,
});

const sharedParameters: Json = {
  IfMatch: headerParameter('If-Match', 'Changes only the version that was read.', {
    type: 'string',
    examples: ['"3"'],
  }),
  IfNoneMatch: headerParameter('If-None-Match', 'Answers 304 when this version is still the current one.', {
    type: 'string',
    examples: ['"3"'],
  }),
  TenantId: headerParameter('X-Tenant-Id', 'Acts in another tenant that the token belongs to.', {
    type: 'string',
    format: 'uuid',
  }),
  IdempotencyKey: headerParameter(
    'Idempotency-Key',
    'Executes the operation once, however often it is sent.',
    {
      type: 'string',
      minLength: 1,
      maxLength: 255,
      pattern: '^[!-~]+$',
    },
  ),
};

const sharedResponses: Json = {
  Malformed: problemAnswer(400, 'The request cannot be understood: broken syntax, or a wrong type.'),
  Unauthenticated: problemAnswer(
    401,
    '`invalid-credential`: the credential is absent, expired or not valid.',
  ),
  Forbidden: problemAnswer(
    403,
    '`permission-missing`, `tenant-not-allowed`: the caller is known and may not do this.',
  ),
  Invalid: problemAnswer(
    422,
    'The request is understood and breaks rules, which `errors` lists; or its idempotency key cannot be used.',
  ),
  TooManyRequests: problemAnswer(
    429,
    '`too-many-requests`: the limit of the user, the tenant or the address is reached.',
  ),
  Unavailable: problemAnswer(503, 'A part that is needed does not answer now.'),
  Problem: problemAnswer(500, 'Any other failure.'),
  NotModified: {
    description: 'What the client has is still current.',
    headers: { ETag: { $ref: '#/components/headers/ETag' } },
  },
};

const problemMembers: Json = {
  type: {
    type: 'string',
    format: 'uri-reference',
    description: 'What kind of problem it is; leads to a page about it.',
  },
  title: { type: 'string', description: 'Short summary.' },
  status: { type: 'integer', minimum: 400, maximum: 599 },
  detail: { type: 'string', description: 'What happened this time.' },
  instance: { type: 'string', description: 'The path of the request.' },
  traceId: { type: 'string', pattern: '^[0-9a-f]{32}$', description: 'Finds the request in the logs.' },
  errorCode: { type: 'string' },
};

const problemSchemas: Record<string, Json> = {
  ProblemDetails: {
    type: 'object',
    required: ['type', 'title', 'status', 'detail', 'instance', 'traceId'],
    properties: problemMembers,
  },
  ValidationProblemDetails: {
    type: 'object',
    required: ['type', 'title', 'status', 'detail', 'instance', 'traceId'],
    properties: {
      ...problemMembers,
      errors: {
        type: 'object',
        description: 'Property paths, each with its error codes.',
        additionalProperties: {
          type: 'array',
          items: { type: 'string', pattern: '^Service:Validation:[A-Za-z]+Validator$' },
        },
      },
    },
  },
};

/** What the gateway itself answers, outside the prefix and its versions. */
function platformPaths(): Json {
  const page = (operationId: string, summary: string, schema: JsonSchema): Json => ({
    get: {
      operationId,
      tags: [tagOf('platform')],
      summary,
      security: [],
      responses: {
        200: { description: 'It does.', content: { [JSON_TYPE]: { schema } } },
        default: { $ref: '#/components/responses/Problem' },
      },
    },
  });
  const states = {
    type: 'object',
    additionalProperties: { type: 'string', enum: ['up', 'down', 'draining'] },
  };
  return {
    '/healthz': page('getHealth', 'Whether the gateway runs', {
      type: 'object',
      properties: { alive: { type: 'boolean' } },
      required: ['alive'],
    }),
    '/readyz': page('getReadiness', 'Whether every part of the platform answers', {
      type: 'object',
      properties: { ready: { type: 'boolean' }, parts: states },
      required: ['ready', 'parts'],
    }),
  };
}
