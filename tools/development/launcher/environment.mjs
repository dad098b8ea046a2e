import { createHmac } from 'node:crypto';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { identifierOf, variableSuffix } from './services.mjs';

/** In how many threads a process works on files; the images say the same, with the reason. */
export const FILE_THREADS = '16';

export const demoTenant = { id: '01900000-0000-7000-8000-00000000d301', shortName: 'demo', name: 'Demo' };

/**
 * The port names of all processes of the services.
 * @param {import('./services.mjs').Service[]} services
 */
export function portNamesOf(services) {
  return services.flatMap(({ name, hasHttp, hasWorker }) => [
    ...[...(hasHttp ? ['http'] : []), 'grpc', 'admin'].map((purpose) => `${name}-${purpose}`),
    ...(hasWorker ? [`${name}-worker-admin`] : []),
  ]);
}

/**
 * Where a service's database is on the PostgreSQL that this launcher runs, as the service's own role.
 * @param {string} service
 * @param {string} adminUrl
 * @param {import('./secrets.mjs').Secrets} secrets
 */
export function databaseUrl(service, adminUrl, secrets) {
  const url = new URL(adminUrl);
  url.pathname = `/plinth_${identifierOf(service)}`;
  url.username = `plinth_${identifierOf(service)}_app`;
  url.password = createHmac('sha256', secrets.postgresPassword).update(url.username).digest('hex');
  return url.href;
}

/**
 * What every process gets. What the user has set wins.
 * @param {object} options
 * @param {import('./services.mjs').Service[]} options.services
 * @param {Record<string, number>} options.ports
 * @param {import('./secrets.mjs').Secrets} options.secrets
 * @param {import('./paths.mjs').Layout} options.layout
 * @param {Record<string, string>} options.databaseUrls by variable
 * @param {{ redis: string, nats: string, temporal: string }} options.servers
 * @param {string} options.publicUrl
 * @param {string | undefined} options.chromium
 */
export function sharedEnvironment({
  services,
  ports,
  secrets,
  layout,
  databaseUrls,
  servers,
  publicUrl,
  chromium,
}) {
  const behindGateway = services.filter(({ name }) => name !== 'gateway');
  const list = (
    /** @type {import('./services.mjs').Service[]} */ of,
    /** @type {(name: string) => string} */ addressOf,
  ) => of.map(({ name }) => `${name}=${addressOf(name)}`).join(',');
  return {
    ...databaseUrls,
    REDIS_URL: servers.redis,
    NATS_URL: servers.nats,
    TEMPORAL_ADDRESS: servers.temporal,
    BLOB_URL: pathToFileURL(layout.blobs).href,
    CALLER_KEYS: secrets.callerKeys,
    CURSOR_KEYS: secrets.cursorKeys,
    EVENT_KEYS: secrets.eventKeys,
    PDF_RENDERER_KEYS: secrets.pdfRendererKeys,
    SETTINGS_ENCRYPTION_KEYS: secrets.settingsEncryptionKeys,
    PLINTH_TENANTS: JSON.stringify([demoTenant]),
    HTTP_SERVICES: list(
      behindGateway.filter(({ hasHttp }) => hasHttp),
      (name) => `http://127.0.0.1:${ports[`${name}-http`]}`,
    ),
    GRPC_SERVICES: list(behindGateway, (name) => `127.0.0.1:${ports[`${name}-grpc`]}`),
    PUBLIC_URL: publicUrl,
    DEV_ISSUER: 'true',
    ...(chromium !== undefined && { PUPPETEER_EXECUTABLE_PATH: chromium }),
    // What was compiled once need not be compiled at the next start.
    NODE_COMPILE_CACHE: join(layout.data, 'compile-cache'),
    UV_THREADPOOL_SIZE: FILE_THREADS,
    ...process.env,
    NODE_ENV: 'development',
    HTTP_HOST: '127.0.0.1',
  };
}

/**
 * What one process gets: of the secrets only those that it works with.
 * @param {string} process its service
 * @param {NodeJS.ProcessEnv} environment
 */
export function ownEnvironment(process, environment) {
  const isGateway = process === 'gateway';
  const isOwn = (/** @type {string} */ variable) => {
    const name = variable.replace(/_FILE$/, '');
    // An administrator's, for the launcher itself.
    if (name.startsWith('MIGRATE_DATABASE_URL')) return false;
    if (process === 'pdf-renderer') return OF_RENDERER.test(name);
    if (name.startsWith('DATABASE_URL_')) return name === databaseVariable(process);
    if (name === 'SETTINGS_ENCRYPTION_KEYS') return process === 'settings';
    if (name.endsWith('REDIS_URL')) return isGateway;
    if (name === 'PDF_RENDERER_KEYS') return process === 'template';
    return !isGateway || !['EVENT_KEYS', 'CURSOR_KEYS', 'NATS_PASSWORD'].includes(name);
  };
  return Object.fromEntries(Object.entries(environment).filter(([variable]) => isOwn(variable)));
}

/** All that a process gets that runs a browser: what it is configured by, and what Node.js and the system are. */
const OF_RENDERER =
  /^(PDF_.+|PUPPETEER_.+|CONNECTIONS_SECURED_BY|LOG_LEVEL|HTTP_HOST|ADMIN_PORT|GRPC_PORT|DRAIN_SECONDS|(NODE|UV|XDG|LC)_.+|PATH|LD_LIBRARY_PATH|HOME|USER|TMPDIR|LANG|TZ)$/;

/** @param {string} service */
export function databaseVariable(service) {
  return `DATABASE_URL_${variableSuffix(service)}`;
}
