import { exampleProblem } from './examples';
import type { Json, JsonSchema } from './schemas';

export const JSON_TYPE = 'application/json';
const PROBLEM_TYPE = 'application/problem+json';

/** A response with problem details. @param slugs of the problems that it may be, of which the document has examples */
export const problemResponse = (
  status: number,
  description: string,
  slugs: readonly string[] = [],
): Json => ({
  description,
  headers: {
    ...(status === 429 || status === 503
      ? { 'Retry-After': { $ref: '#/components/headers/Retry-After' } }
      : {}),
    ...Object.fromEntries(commonHeaders.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
  },
  content: {
    [PROBLEM_TYPE]: {
      schema: {
        $ref: `#/components/schemas/${status === 422 ? 'ValidationProblemDetails' : 'ProblemDetails'}`,
      },
      ...(slugs.length === 0
        ? {}
        : {
            examples: Object.fromEntries(
              slugs.map((slug) => [slug, { $ref: `#/components/examples/${slug}` }]),
            ),
          }),
    },
  },
});

/** Headers of every response. */
export const commonHeaders = [
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

export const sharedHeaders: Json = {
  Location: header('The address of the created resource or of the running job.'),
  ETag: header('The version of the resource; send it in `If-Match` or `If-None-Match`.'),
  'Content-Disposition': header('The name of the file.'),
  'Content-Range': header('Which bytes these are, and how many there are.'),
  'Retry-After': header('Seconds to wait before a retry.', { type: 'integer', minimum: 0 }),
  'X-Idempotency-Replayed': header('`true` when a stored response is replayed.'),
  'X-Request-Id': header('The trace id of the request.'),
  'api-supported-versions': header('Versions that are supported.'),
  'api-deprecated-versions': header('Versions that are deprecated.'),
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

export const sharedParameters: Json = {
  // Without examples: what shows the document would send them.
  IfMatch: headerParameter('If-Match', 'Changes only the version that was read, such as `"3"`.', {
    type: 'string',
  }),
  IfNothingMatches: headerParameter(
    'If-None-Match',
    '`*` creates, and replaces nothing that is there already.',
    { type: 'string' },
  ),
  IfNoneMatch: headerParameter(
    'If-None-Match',
    'Responds with 304 when this version, such as `"3"`, is still the current one.',
    { type: 'string' },
  ),
  Range: headerParameter('Range', 'The bytes to send, such as `bytes=1048576-` to continue a cut download.', {
    type: 'string',
  }),
  IfRange: headerParameter('If-Range', 'Sends all of the file where this is no longer its `ETag`.', {
    type: 'string',
  }),
  TenantId: headerParameter('X-Tenant-Id', 'Acts in another tenant that the token belongs to.', {
    type: 'string',
    format: 'uuid',
  }),
  IdempotencyKey: headerParameter(
    'Idempotency-Key',
    'Executes the operation once, even if the request is repeated.',
    {
      type: 'string',
      minLength: 1,
      maxLength: 255,
      pattern: '^[!-~]+$',
    },
  ),
};

/** Examples of problems without a slug. */
const MALFORMED = 'malformed-request';
const INVALID = 'validation-errors';
const UNEXPECTED = 'unexpected-error';
const NO_SUCH_BYTES = 'range-not-satisfiable';

/** What these problems look like, besides those of the catalogues. */
export const generalProblemExamples: Json = {
  [MALFORMED]: {
    summary: 'Malformed request',
    value: exampleProblem(
      400,
      { title: 'Bad Request', detail: 'pageSize must be a positive integer.' },
      '/api/v1/contacts',
    ),
  },
  [INVALID]: {
    summary: 'Validation errors',
    value: exampleProblem(
      422,
      {
        title: 'One or more validation errors occurred.',
        detail: 'One or more fields are not valid; see errors.',
      },
      '/api/v1/contacts',
      { errors: { name: ['Service:Validation:NotEmptyValidator'] } },
    ),
  },
  [NO_SUCH_BYTES]: {
    summary: 'No such bytes',
    value: exampleProblem(
      416,
      { title: 'Range Not Satisfiable', detail: 'The file has 1048576 bytes.' },
      '/api/v1/exports/jobs/01939c5e-7b1a-7c3e-9f00-2b6a4d1e8f55/download',
    ),
  },
  [UNEXPECTED]: {
    summary: 'Unexpected error',
    value: exampleProblem(
      500,
      {
        title: 'Internal Server Error',
        detail: 'An unexpected error occurred; it was logged with this trace id.',
      },
      '/api/v1/contacts',
    ),
  },
};

export const sharedResponses: Json = {
  Malformed: problemResponse(400, 'The request is malformed: its syntax or the type of a value is wrong.', [
    MALFORMED,
  ]),
  Unauthenticated: problemResponse(
    401,
    '`invalid-credential`: the credential is missing, expired or not valid.',
    ['invalid-credential'],
  ),
  Forbidden: problemResponse(403, '`permission-missing`, `tenant-not-allowed`: the caller may not do this.', [
    'permission-missing',
    'tenant-not-allowed',
  ]),
  Invalid: problemResponse(
    422,
    'The request breaks validation rules, which `errors` lists; or its idempotency key cannot be used.',
    [INVALID, 'idempotency-payload-mismatch'],
  ),
  TooManyRequests: problemResponse(
    429,
    '`too-many-requests`: the limit of the user, the tenant or the address is reached.',
    ['too-many-requests'],
  ),
  Unavailable: problemResponse(503, 'A part of the platform is unavailable.', [
    'area-unavailable',
    'overloaded',
  ]),
  Problem: problemResponse(500, 'Any other problem.', [UNEXPECTED]),
  RangeNotSatisfiable: problemResponse(416, 'The file has no such bytes; `Content-Range` has its size.', [
    NO_SUCH_BYTES,
  ]),
  NotModified: {
    description: 'The version of the client is still current.',
    headers: { ETag: { $ref: '#/components/headers/ETag' } },
  },
};

const problemMembers: Json = {
  type: {
    type: 'string',
    format: 'uri-reference',
    description: 'The type of the problem; the address of a page about it.',
  },
  title: { type: 'string', description: 'Short summary.' },
  status: { type: 'integer', minimum: 400, maximum: 599 },
  detail: { type: 'string', description: 'What happened in this case.' },
  instance: { type: 'string', description: 'The path of the request.' },
  traceId: { type: 'string', pattern: '^[0-9a-f]{32}$', description: 'Finds the request in the logs.' },
  errorCode: { type: 'string' },
};

export const problemSchemas: Record<string, Json> = {
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
