import { readFileSync } from 'node:fs';
import { z } from 'zod';

/** Exit code for a configuration that cannot be used (sysexits.h, EX_CONFIG). */
export const EX_CONFIG = 78;

/** Of the 45 s that a process has from its signal on, so that 25 s are left for open requests. */
const DRAIN_SECONDS_MAX = 15;

/** A configuration that was read but cannot be used; a process that meets one ends with `EX_CONFIG`. */
export class ConfigurationError extends Error {}

/**
 * Reads a process's configuration from its environment.
 * For every variable `X` the file named by `X_FILE` is read instead when that is set, so that secrets can be mounted.
 * Prints every error at once and ends the process when something is missing, wrong, or unsafe in production.
 */
export function loadConfig<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape>,
  environment: NodeJS.ProcessEnv,
): z.output<z.ZodObject<Shape>> {
  const { config, errors } = readConfig(schema, environment);
  if (errors.length === 0) return config;
  process.stderr.write(
    `The configuration cannot be used:\n${errors.map((error) => `  ${error}\n`).join('')}`,
  );
  process.exit(EX_CONFIG);
}

/** The configuration and everything that is wrong with it. */
export function readConfig<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape>,
  environment: NodeJS.ProcessEnv,
): { config: z.output<z.ZodObject<Shape>>; errors: string[] } {
  const config: Record<string, unknown> = {};
  const texts: Record<string, string> = {};
  const errors: string[] = [];
  for (const [name, variable] of Object.entries(schema.shape) as [string, z.ZodType][]) {
    try {
      const text = textOf(name, environment);
      if (text !== undefined) texts[name] = text;
      const result = variable.safeParse(text);
      if (result.success) config[name] = result.data;
      else
        errors.push(
          ...result.error.issues.map(({ message }) => `${name}: ${text ? message : 'is missing.'}`),
        );
    } catch (error) {
      errors.push(`${name}: ${(error as Error).message}`);
    }
  }
  // What is empty by mistake must not make a production of its own a developer's machine.
  if (environment['NODE_ENV'] === '') errors.push('NODE_ENV: is empty.');
  if (config['NODE_ENV'] === 'production') {
    errors.push(...unsafeIn(texts));
    if (config['CONNECTIONS_SECURED_BY'] === 'tls') errors.push(...openConnectionsIn(config));
  }
  return { config: config as z.output<z.ZodObject<Shape>>, errors };
}

/** What a variable says, or the file that its `_FILE` variable names; undefined when that is nothing. */
function textOf(name: string, environment: NodeJS.ProcessEnv): string | undefined {
  const file = environment[`${name}_FILE`];
  return (file ? readFileSync(file, 'utf8').trim() : environment[name]) || undefined;
}

const SECRET_CHARACTERS_MIN = 32;
const DISTINCT_CHARACTERS_MIN = 10;
const GUESSABLE =
  /change.?me|development|example|secret|password|default|0123456789|abcdefgh|^(postgres|plinth|admin|test)$/i;

/** What only a developer's machine may do. */
function unsafeIn(texts: Record<string, string>): string[] {
  return Object.entries(texts).flatMap(([name, text]) => {
    if (/_KEYS?$/.test(name) && text.split(',').some((key) => isGuessableKey(key.trim()))) {
      return `${name}: in production each key needs at least ${SECRET_CHARACTERS_MIN} random characters.`;
    }
    if (name.startsWith('DATABASE_URL') && hasGuessablePassword(text)) {
      return `${name}: its password can be guessed; that is refused in production.`;
    }
    return [];
  });
}

/** Connections that others of the network could read or make. */
function openConnectionsIn(config: Record<string, unknown>): string[] {
  const needs = (name: string, what: string) =>
    `${name}: in production ${what}; CONNECTIONS_SECURED_BY=mesh says that a service mesh does that.`;
  return Object.entries(config).flatMap(([name, value]) => {
    if (typeof value !== 'string') return [];
    if (name === 'NATS_URL') {
      const isOpen = !config['NATS_USER'] || !config['NATS_PASSWORD'];
      return [
        ...(value.startsWith('tls://') ? [] : [needs(name, 'NATS is at tls://')]),
        ...(isOpen ? [needs('NATS_PASSWORD', 'a service has a user and a password at NATS')] : []),
      ];
    }
    if (name === 'TEMPORAL_ADDRESS') {
      const isOpen = !config['TEMPORAL_API_KEY'] && !config['TEMPORAL_CLIENT_CERTIFICATE'];
      return [
        ...(config['TEMPORAL_TLS'] === true ? [] : [needs('TEMPORAL_TLS', 'Temporal is asked over TLS')]),
        ...(isOpen ? [needs('TEMPORAL_API_KEY', 'Temporal wants a key or a certificate of the client')] : []),
      ];
    }
    if (name.endsWith('REDIS_URL'))
      return /^rediss:\/\/[^@]*:[^@]+@/.test(value)
        ? []
        : [needs(name, 'Redis is at rediss:// with a password')];
    if (name.startsWith('DATABASE_URL'))
      return /[?&]sslmode=verify-(full|ca)\b/.test(value)
        ? []
        : [needs(name, 'PostgreSQL is asked with sslmode=verify-full')];
    return [];
  });
}

const isGuessableKey = (key: string): boolean =>
  key.length < SECRET_CHARACTERS_MIN || new Set(key).size < DISTINCT_CHARACTERS_MIN || GUESSABLE.test(key);

function hasGuessablePassword(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { username, password } = new URL(url);
  return password !== '' && (password === username || GUESSABLE.test(decodeURIComponent(password)));
}

/** A number of things, bytes or milliseconds: a whole one, and at least 1. */
export const positiveInteger = (byDefault: number) => z.coerce.number().int().min(1).default(byDefault);

/** `true` or `false`. */
export const flag = (byDefault: boolean) =>
  z
    .enum(['true', 'false'])
    .default(byDefault ? 'true' : 'false')
    .transform((text) => text === 'true');

/** A port to listen on; 0 takes a free one. */
export const port = (byDefault: number) => z.coerce.number().int().min(0).max(65_535).default(byDefault);

/** Comma-separated secrets: the first one signs or encrypts, all of them verify or decrypt. */
export const keys = () =>
  z
    .string()
    .transform((list) => list.split(',').map((key) => key.trim()))
    .refine((list) => list.every((key) => key.length >= 16), 'each key needs at least 16 characters');

/** `name=address,name=address` */
export const addressBook = (byDefault = '') =>
  z
    .string()
    .default(byDefault)
    .transform((list) =>
      Object.fromEntries(
        list
          .split(',')
          .filter((entry) => entry.includes('='))
          .map((entry) => [
            entry.slice(0, entry.indexOf('=')).trim(),
            entry.slice(entry.indexOf('=') + 1).trim(),
          ]),
      ),
    );

const Tenant = z.object({
  id: z.guid(),
  shortName: z.string(),
  name: z.string(),
  hosts: z.array(z.string()).optional(),
});

export type Tenant = z.infer<typeof Tenant>;

/** JSON array of the tenants that have a short name or host names. */
export const tenants = () =>
  z
    .string()
    .default('[]')
    .transform((json, context) => {
      try {
        return z.array(Tenant).parse(JSON.parse(json));
      } catch (error) {
        context.addIssue({
          code: 'custom',
          message: `not a JSON array of tenants: ${(error as Error).message}`,
        });
        return z.NEVER;
      }
    });

/** What every process of the platform reads. Each description becomes a row of `docs/configuration.md`. */
export const processEnvironment = {
  NODE_ENV: z
    .enum(['development', 'test', 'production'])
    .default('development')
    .describe('`production` refuses everything that is only safe on a developer machine.'),
  CONNECTIONS_SECURED_BY: z
    .enum(['tls', 'mesh'])
    .default('tls')
    .describe(
      'With `tls`, production needs TLS and credentials for NATS, Temporal, Redis and PostgreSQL; `mesh`: a service mesh encrypts and authenticates every connection.',
    ),
  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'silent'])
    .default('info')
    .describe('Least level logged.'),
  HTTP_HOST: z.string().default('0.0.0.0').describe('Address that HTTP, gRPC and the admin port listen on.'),
  ADMIN_PORT: port(9091).describe('Port of `/healthz`, `/readyz` and `/metrics`. 0 takes a free one.'),
  OTEL_EXPORTER_OTLP_ENDPOINT: z
    .url()
    .optional()
    .describe('Where traces are sent (OTLP over HTTP); without it none are made.'),
  DRAIN_SECONDS: z.coerce
    .number()
    .min(0)
    .max(DRAIN_SECONDS_MAX)
    .optional()
    .describe(
      `How long a stopping process goes on before it takes no more connections: 5 in production, else 0; ${DRAIN_SECONDS_MAX} at most, so that open requests still have their 25 s. Clients are told to keep unused ones for a second less.`,
    ),
};

/** What every service reads. */
export const serviceEnvironment = {
  ...processEnvironment,
  HTTP_PORT: port(8080).describe('Port of the HTTP interface, for the gateway only.'),
  GRPC_PORT: port(9090).describe('Port for gRPC calls of other services.'),
  PUBLIC_URL: z
    .url()
    .default('http://localhost:8080')
    .describe('Address under which clients reach the gateway.'),
  PUBLIC_PREFIX: z.string().startsWith('/').default('/api/v1').describe('Route prefix of the interface.'),
  CALLER_KEYS: keys().describe(
    'Secrets that sign callers between processes, comma-separated; the first one signs.',
  ),
  CURSOR_KEYS: keys().describe('Secrets that sign list cursors, comma-separated; the first one signs.'),
  BUFFERED_BYTES_MAX: positiveInteger(16 * 1024 * 1024).describe(
    'Bytes of request bodies that the process holds in memory at the same time.',
  ),
  BUFFERED_RESPONSE_BYTES_MAX: positiveInteger(64 * 1024 * 1024).describe(
    'Bytes of large responses that the process holds until their clients have read them. One may be half of it.',
  ),
  BUFFERED_MESSAGE_BYTES_MAX: positiveInteger(32 * 1024 * 1024).describe(
    'Bytes of messages that the gRPC calls to the process hold in memory at the same time.',
  ),
  EVENT_KEYS: keys().describe(
    'Secrets that sign events between services, comma-separated; the first one signs.',
  ),
  NATS_URL: z
    .string()
    .default('nats://127.0.0.1:4222')
    .describe('NATS server with JetStream; `tls://…` connects with TLS.'),
  NATS_USER: z.string().optional().describe('User of this service at NATS.'),
  NATS_PASSWORD: z.string().optional().describe('Password of the user at NATS.'),
  NATS_CA: z
    .string()
    .optional()
    .describe('Certificate (PEM) of the authority that NATS is verified by; else those that Node.js trusts.'),
  NATS_PREFIX: z
    .string()
    .regex(/^\w+$/)
    .default('plinth')
    .describe('First word of every subject; the stream has its name.'),
  NATS_STREAM_BYTES_MAX: positiveInteger(2 * 1024 * 1024 * 1024).describe(
    'Bytes of the stream of events, also of one that is there; a full one drops its oldest events, which outboxes still have.',
  ),
  GRPC_SERVICES: addressBook().describe('Addresses of other services: `settings=settings:9090,…`.'),
  PLINTH_TENANTS: tenants().describe('Tenants with a short name or host names, as JSON.'),
};

/** What every process reads that asks Temporal or works for it. */
export const temporalEnvironment = {
  TEMPORAL_ADDRESS: z.string().default('127.0.0.1:7233').describe('Temporal server.'),
  TEMPORAL_NAMESPACE: z.string().default('default').describe('Namespace of this platform in Temporal.'),
  TEMPORAL_TLS: z.stringbool().default(false).describe('Whether Temporal is asked over TLS.'),
  TEMPORAL_CA: z
    .string()
    .optional()
    .describe('Certificate (PEM) of the authority that Temporal is verified by; else those of the system.'),
  TEMPORAL_CLIENT_CERTIFICATE: z
    .string()
    .optional()
    .describe('Certificate (PEM) of this platform at Temporal.'),
  TEMPORAL_CLIENT_KEY: z.string().optional().describe('Key (PEM) of the certificate.'),
  TEMPORAL_API_KEY: z
    .string()
    .optional()
    .describe('Key of this platform at Temporal, in place of a certificate.'),
  TEMPORAL_WORKER_BUILD_ID: z
    .string()
    .regex(/^[\w.-]{1,100}$/)
    .optional()
    .describe(
      'Version of the workers, such as the tag of their image, for Worker Deployment Versioning (docs/operations/worker-versions.md); without it workers have no versions.',
    ),
};

/** The URL of a service's own database, for a role that owns nothing and cannot bypass row-level security. */
export const databaseUrl = () => z.url().describe('Database of this service, as the restricted role.');
