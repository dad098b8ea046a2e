import { permissions } from '@plinth/contracts/permissions';
import { z } from 'zod';
import {
  addressBook,
  flag,
  keys,
  port,
  positiveInteger,
  processEnvironment,
  tenants,
} from '@plinth/runtime/process/config';
import { ConfiguredClaimNames } from './identity/claims';
import { defaultRolePermissions } from './identity/grants';
import { configuredIssuers, IssuerSettings, issuersWithSharedUsers } from './identity/issuers';
import { RateLimits } from './limits/policies';

const list = () =>
  z
    .string()
    .default('')
    .transform((text) =>
      text
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== ''),
    );

const json = <Schema extends z.ZodType>(schema: Schema, byDefault: string) =>
  z
    .string()
    .default(byDefault)
    .transform((text, context): z.output<Schema> => {
      try {
        return schema.parse(JSON.parse(text));
      } catch (error) {
        context.addIssue({ code: 'custom', message: `is not valid: ${(error as Error).message}` });
        return z.NEVER;
      }
    });

const Deprecated = z.object({ since: z.iso.date(), sunset: z.iso.date().optional(), link: z.string() });
const Versions = z
  .array(z.object({ version: z.string().regex(/^\d+\.\d+$/), deprecated: Deprecated.optional() }))
  .min(1);

/** What the gateway reads from its environment. */
export const GatewayConfig = z.object({
  ...processEnvironment,
  HTTP_PORT: port(8080).describe('Port of the public HTTP interface. 0 takes a free one.'),
  PUBLIC_URL: z
    .url()
    .default('http://localhost:8080')
    .describe('Address under which clients reach the gateway.'),
  PUBLIC_PREFIX: z
    .string()
    .regex(/^(\/[\w-]+)*\/v1$/)
    .default('/api/v1')
    .describe('Route prefix of the interface.'),
  HTTP_SERVICES: addressBook().describe('Address of each service: `settings=http://settings:8080,…`.'),
  GRPC_SERVICES: addressBook().describe(
    'gRPC address of `settings`, which knows the API keys; without it none are accepted.',
  ),
  REDIS_URL: z
    .string()
    .default('redis://127.0.0.1:6379')
    .describe(
      'Redis for rate limits, marks of revoked API keys and idempotency keys; it needs the policy `noeviction`.',
    ),
  CALLER_KEYS: keys().describe(
    'Secrets that sign callers between processes, comma-separated; the first one signs.',
  ),
  PLINTH_TENANTS: tenants().describe('Tenants with a short name or host names, as JSON.'),

  OIDC_ISSUER: z.string().optional().describe('Issuer whose tokens are accepted, exactly as in `iss`.'),
  OIDC_AUDIENCE: z.string().default('plinth').describe('What `aud` of a token must hold.'),
  OIDC_JWKS_URL: z.url().optional().describe("Address of the issuer's keys."),
  OIDC_ISSUERS: json(z.array(IssuerSettings), '[]').describe(
    'Further issuers as JSON: `[{"issuer": "https://…", "jwksUrl": "https://…", "audience", "claims", "defaultTenant", "tenants": ["…"], "userPrefix": "partner:"}]`. `tenants` are the only ones for which the issuer speaks; `userPrefix` is put before its user ids, and production requires another one for each of two issuers that speak for the same tenant; what is left out is as for OIDC_ISSUER.',
  ),
  OIDC_CLAIMS: json(ConfiguredClaimNames, '{}').describe(
    'Under which claims the issuers say what, as JSON; a list where there are several, a dot for what is inside of a claim: `{"user": "sub", "name": ["name", "preferred_username"], "tenant": "tenant_id", "tenants": "tenants", "roles": ["roles", "realm_access.roles", "resource_access.plinth.roles"], "permissions": "permissions"}`.',
  ),
  OIDC_DEFAULT_TENANT: z
    .guid()
    .toLowerCase()
    .optional()
    .describe(
      'Tenant of tokens without the claim `tenant_id`; without it they are refused. The nil UUID is the host tenant, whose administrators administrate the platform.',
    ),
  ROLE_PERMISSIONS: json(
    z.record(z.string(), z.array(z.string())),
    JSON.stringify(defaultRolePermissions),
  ).describe('Permissions of each role, as JSON; `admin` has all.'),
  EXTRA_PERMISSIONS: list().describe(
    'Permissions that no contract knows and ROLE_PERMISSIONS may grant, such as those of workflow definitions; comma-separated.',
  ),
  DEV_ISSUER: flag(false).describe(
    '`true` issues tokens to every client at `/dev/token`; refused in production.',
  ),
  DEV_ISSUER_KEY: z
    .string()
    .min(8)
    .optional()
    .describe('Seed of the development issuer; without one the gateways share a random one in Redis.'),

  CONSOLE_DIRECTORY: z
    .string()
    .optional()
    .describe('Folder with the files of the console; by default where the build and the image put them.'),
  REFERENCE_DIRECTORY: z
    .string()
    .optional()
    .describe(
      'Folder with the files of the API reference; by default where the build and the image put them.',
    ),
  CONSOLE_CLIENT_ID: z
    .string()
    .default('plinth-console')
    .describe(
      'Client id of the console and the API reference at `OIDC_ISSUER`: a public client with authorization code and PKCE.',
    ),
  CONSOLE_SCOPE: z.string().default('openid profile').describe('Scope that the console asks for.'),
  CONSOLE_AUTHORIZATION_PARAMETERS: json(z.record(z.string(), z.string()), '{}').describe(
    'Further parameters of the authorization request of the console, as JSON: `{"resource": "https://plinth.example"}`.',
  ),

  TRACES_URL: z
    .string()
    .includes('{traceId}')
    .optional()
    .describe(
      'Where operators look at a trace, with `{traceId}` in it: `https://jaeger.example/trace/{traceId}`; the console leads there.',
    ),

  CORS_ORIGINS: list().describe(
    'Origins whose pages may use the interface, comma-separated and exact; `*` only in development.',
  ),
  CORS_CREDENTIALS: flag(false).describe(
    'Whether these pages may send cookies and other credentials of the browser.',
  ),

  API_VERSIONS: json(Versions, '[{"version":"1.0"}]').describe(
    'Versions as JSON, the default one first; a version with `deprecated: {since, sunset?, link}` is reported as deprecated.',
  ),
  DEPRECATION_FORMAT: z
    .enum(['boolean', 'date'])
    .default('boolean')
    .describe('Header `Deprecation` as `true`, or as the date of RFC 9745.'),

  RATE_LIMITS: json(RateLimits, '{}').describe(
    'Requests a minute as JSON by class of endpoints: `{"default": {"user": 1200, "tenant": 12000, "address": 300}, "expensive": {…}}`. Those of the class `expensive` are a quarter of the default where they are not given.',
  ),
  TRUSTED_PROXIES: z.coerce
    .number()
    .int()
    .min(0)
    .max(10)
    .default(0)
    .describe('How many proxies before the gateway add to `X-Forwarded-For`.'),

  IDEMPOTENCY_HEADER: z
    .string()
    .regex(/^[\w-]+$/)
    .toLowerCase()
    .default('idempotency-key')
    .describe('Name of the header with the idempotency key.'),
  IDEMPOTENCY_REQUIRED_ROUTES: list().describe(
    'Endpoints that need a key: `POST /exports/jobs,POST /templates/:name/publish`.',
  ),
  IDEMPOTENCY_MULTIPART: z
    .enum(['refuse', 'ignore'])
    .default('refuse')
    .describe(
      'What an idempotency key of a multipart request leads to: 422, or a request that is served as if it had none.',
    ),
  IDEMPOTENCY_RETENTION_SECONDS: positiveInteger(86_400).describe(
    'How long a response is stored for replay.',
  ),
  IDEMPOTENCY_MARKER_MILLISECONDS: positiveInteger(30_000).describe(
    'How long a running request holds its key when its gateway dies.',
  ),
  IDEMPOTENCY_TIMEOUT_MILLISECONDS: positiveInteger(25_000).describe(
    'How long a request with a key may take.',
  ),
  IDEMPOTENCY_RESPONSE_BYTES_MAX: positiveInteger(512 * 1024).describe('Larger responses are not stored.'),
  IDEMPOTENCY_STORED_BYTES_MAX: positiveInteger(64 * 1024 * 1024).describe(
    'Bytes of all stored responses together; a tenant may hold as much of them as is free, a user half of that. Redis needs twice as much memory.',
  ),
  IDEMPOTENCY_REDIS_URL: z
    .string()
    .optional()
    .describe('Another Redis for idempotency keys, so that they share no memory with the rate limits.'),

  UPSTREAM_TIMEOUT_MILLISECONDS: positiveInteger(30_000).describe(
    'How long a service may take until its response begins. One that lasts longer from then on reaches the client before its end.',
  ),
  UPSTREAM_SLOW_TIMEOUT_MILLISECONDS: positiveInteger(300_000).describe(
    'The same for endpoints of the class `expensive`, such as the dry-run of a large import.',
  ),
  UPSTREAM_CONCURRENCY_MAX: positiveInteger(512).describe(
    'Requests to one service at the same time; a tenant alone has half of them, a user a third.',
  ),
  UPSTREAM_STREAMS_MAX: positiveInteger(1_000).describe(
    'Uploads, downloads and event streams of one service at the same time.',
  ),
  UPSTREAM_TURNS: positiveInteger(12).describe(
    'Short requests that a service has at the same time while several tenants use it; others wait in the gateway, where tenants take turns. Uploads: a quarter of it; bodies of more than 64 kB: a sixth of it, and the others are not read yet. More where a service has many replicas.',
  ),
  BREAKER_FAILURES_MAX: positiveInteger(10).describe(
    'Number of consecutive failures that open the circuit breaker of a service.',
  ),
  BREAKER_OPEN_MILLISECONDS: positiveInteger(1_000).describe('How long the circuit breaker stays open.'),

  HEADERS_TIMEOUT_MILLISECONDS: positiveInteger(10_000).describe(
    'How long a client may take to send the head of a request.',
  ),
  BODY_TIMEOUT_MILLISECONDS: positiveInteger(30_000).describe(
    'How long a client may take to send a JSON body.',
  ),
  UPLOAD_BYTES_PER_SECOND_MIN: positiveInteger(4 * 1024).describe(
    'How fast an upload has to arrive, on the average of each `UPLOAD_RATE_MILLISECONDS`; a slower one gets 408. While the service holds it back it may be slower.',
  ),
  UPLOAD_RATE_MILLISECONDS: positiveInteger(60_000).describe(
    'How long an upload may be slower than that, or pause.',
  ),
  IDLE_TIMEOUT_MILLISECONDS: positiveInteger(120_000).describe(
    'How long a connection may be idle in the middle of a request or response, such as an upload.',
  ),
  KEEP_ALIVE_MILLISECONDS: positiveInteger(65_000).describe(
    'How long an unused connection is kept; longer than the load balancer keeps it. Clients are told less where `DRAIN_SECONDS` is less.',
  ),
  BUFFERED_BYTES_MAX: positiveInteger(32 * 1024 * 1024).describe(
    'Bytes of bodies and responses that the process holds in memory at the same time.',
  ),
  CONNECTIONS_MAX: positiveInteger(10_000).describe('Connections at the same time.'),
  CONNECTIONS_PER_ADDRESS_MAX: positiveInteger(2_000).describe(
    'Connections of one address, in IPv6 of one network of 64 bits, at the same time; behind trusted proxies, requests of one client at the same time.',
  ),
});

export type GatewayConfig = z.output<typeof GatewayConfig>;

/** Rules that concern more than one variable. */
export function configurationErrors(config: GatewayConfig): string[] {
  const isProduction = config.NODE_ENV === 'production';
  const errors: string[] = [];
  if (isProduction && config.DEV_ISSUER)
    errors.push('DEV_ISSUER: the development issuer is refused in production.');
  if (config.NODE_ENV !== 'development' && config.CORS_ORIGINS.includes('*')) {
    errors.push('CORS_ORIGINS: "*" is refused outside development.');
  }
  const issuers = configuredIssuers(config);
  if (!config.DEV_ISSUER && !config.OIDC_ISSUER && issuers.length === 0)
    errors.push('OIDC_ISSUER: an issuer is required, or no user can sign in.');
  for (const { issuer } of isProduction ? issuers : []) {
    if (issuer.startsWith('http://'))
      errors.push(`OIDC_ISSUER: an issuer without TLS is refused in production (${issuer}).`);
  }
  for (const [one, other] of isProduction ? issuersWithSharedUsers(issuers) : [])
    errors.push(
      `OIDC_ISSUERS: ${one.issuer} and ${other.issuer} could name each other's users; give one of them a userPrefix of its own, or each its tenants.`,
    );
  const repeated = issuers.filter(
    ({ issuer }, index) => issuers.findIndex((one) => one.issuer === issuer) < index,
  );
  if (repeated.length > 0) errors.push(`OIDC_ISSUERS: ${repeated[0]!.issuer} is there twice.`);
  const known = new Set<string>([...permissions, ...config.EXTRA_PERMISSIONS, '*']);
  for (const [role, granted] of Object.entries(config.ROLE_PERMISSIONS)) {
    const unknown = granted.filter((name) => !known.has(name));
    if (unknown.length > 0)
      errors.push(
        `ROLE_PERMISSIONS: the role ${role} has unknown permissions (${unknown.join(', ')}); correct them or add them to EXTRA_PERMISSIONS.`,
      );
  }
  if (config.OIDC_ISSUER && !config.OIDC_JWKS_URL)
    errors.push('OIDC_JWKS_URL: the keys of OIDC_ISSUER are required.');
  const malformed = config.CORS_ORIGINS.filter((origin) => origin !== '*' && !isOrigin(origin));
  if (malformed.length > 0)
    errors.push(`CORS_ORIGINS: ${malformed.join(', ')} is not an origin such as https://app.example.`);
  if (config.IDEMPOTENCY_TIMEOUT_MILLISECONDS >= config.IDEMPOTENCY_MARKER_MILLISECONDS) {
    errors.push('IDEMPOTENCY_TIMEOUT_MILLISECONDS: must be less than IDEMPOTENCY_MARKER_MILLISECONDS.');
  }
  return errors;
}

function isOrigin(text: string): boolean {
  return /^https?:\/\/[^*]+$/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}
