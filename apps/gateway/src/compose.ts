import type { Server, ServerResponse } from 'node:http';
import type { Redis } from 'ioredis';
import type { Registry } from 'prom-client';
import { allEndpoints, allProblems } from '@plinth/contracts/all';
import type { Endpoints } from '@plinth/contracts/endpoint';
import { openApiDocument } from '@plinth/contracts/openapi/document';
import { ByteBudget, measureBytes } from '@plinth/runtime/process/byte-budget';
import { statusByKind } from '@plinth/http/problem-details';
import type { ProblemType } from '@plinth/kernel/problem';
import { systemClock } from '@plinth/kernel/clock';
import { ConfigurationError } from '@plinth/runtime/process/config';
import { Drain } from '@plinth/runtime/process/drain';
import { createMetrics, Health } from '@plinth/runtime/process/health';
import { EventLoopTurns, measurePlaces } from '@plinth/runtime/process/fair-places';
import type { Log } from '@plinth/runtime/process/log';
import { openRedis } from './redis';
import { createGateway } from './app';
import { configurationErrors, type GatewayConfig } from './config';
import { Cors } from './cors';
import { IdempotencyGuard, type Checkpoint } from './idempotency/guard';
import { IdempotencyRecords } from './idempotency/records';
import { ApiKeys } from './identity/api-keys';
import { Credentials } from './identity/credential';
import { createDevIssuer, randomSeed, type DevIssuer } from './identity/dev-issuer';
import { configuredIssuers } from './identity/issuers';
import { remoteKeys } from './identity/jwks';
import { RevokedApiKeys } from './identity/revoked-api-keys';
import { Tenants } from './identity/tenants';
import { OpenRequests } from './limits/open-requests';
import { Policies } from './limits/policies';
import { RateLimiter } from './limits/rate-limiter';
import { GatewayMetrics } from './metrics';
import { callerPage } from './pages/caller-page';
import { consoleConfiguration } from './pages/console-configuration';
import { consolePages, rootPage } from './pages/console-pages';
import { devPages } from './pages/dev-pages';
import { healthPage, readinessPage } from './pages/health-pages';
import { operationsPage } from './pages/operations-page';
import { openApiPage, openApiYamlPage } from './pages/openapi-page';
import { Pages } from './pages/pages';
import { problemPages } from './pages/problem-pages';
import { referencePage } from './pages/reference-page';
import { findWebFiles, readWebFiles } from './pages/web-files';
import { createStreamProxy } from './proxy/stream-proxy';
import { Upstream } from './proxy/upstream';
import { RequestHistory } from './request-history';
import { Routes } from './route-table';
import { createPublicServer } from './server';
import { collectedSpans, noopSpans } from './trace';
import { Versions } from './versions';

export interface Gateway {
  server: Server;
  /** Of the process itself: a gateway whose services are unavailable can still respond with problems. */
  health: Health;
  metrics: Registry;
  /** From now on the gateway is not ready, and every response closes its connection. */
  beginDraining: () => void;
  /** Accepts no more connections, and resolves when the last response is sent. */
  finish: () => Promise<void>;
  close: () => Promise<void>;
}

/** What tests replace. */
export interface Overrides {
  endpoints?: Record<string, Endpoints>;
  problems?: Record<string, ProblemType>;
  onCheckpoint?: (checkpoint: Checkpoint) => void;
}

/** Wires the gateway. */
export async function compose(config: GatewayConfig, log: Log, overrides: Overrides = {}): Promise<Gateway> {
  const errors = configurationErrors(config);
  if (errors.length > 0)
    throw new ConfigurationError(`The configuration cannot be used:\n  ${errors.join('\n  ')}`);
  const { endpoints = allEndpoints, problems = allProblems, onCheckpoint = () => undefined } = overrides;
  const publicUrl = config.PUBLIC_URL.replace(/\/+$/, '');
  const redis = await openRedis(config.REDIS_URL, log);
  const idempotencyRedis = config.IDEMPOTENCY_REDIS_URL
    ? await openRedis(config.IDEMPOTENCY_REDIS_URL, log)
    : redis;
  const upstreams = createUpstreams(config);
  const buffered = new ByteBudget(config.BUFFERED_BYTES_MAX);
  const registry = createMetrics('gateway');
  measureBytes(registry, { both: buffered });
  for (const { upstream } of upstreams.values()) {
    const { service, turns } = upstream;
    measurePlaces(registry, {
      [`calls-${service}`]: turns.calls.places,
      [`large-bodies-${service}`]: turns.largeBodies.places,
      [`uploads-${service}`]: turns.uploads.places,
    });
  }
  const history = new RequestHistory(systemClock);
  const allUpstreams = () => [...upstreams.values()].map(({ upstream }) => upstream);
  const metrics = new GatewayMetrics(registry, allUpstreams, history);
  const devIssuer = config.DEV_ISSUER ? await openDevIssuer(config, redis, log) : undefined;
  const versions = new Versions({
    versions: config.API_VERSIONS,
    base: config.PUBLIC_PREFIX.replace(/\/v1$/, ''),
    publicUrl,
    deprecationFormat: config.DEPRECATION_FORMAT,
  });
  const providers = configuredIssuers(config).map(({ jwksUrl, ...issuer }) => ({
    ...issuer,
    remote: remoteKeys(jwksUrl, log),
  }));
  // Tokens of other issuers, API keys and anonymous requests are served without it.
  const informative = Object.fromEntries(
    providers.map(({ issuer, remote }) => [`identity provider ${issuer}`, () => remote.check()]),
  );
  const health = new Health({}, { informative, log });
  const platform = new Health(partsOf(redis, idempotencyRedis, upstreams), { informative });
  const eventStreams = new Map<ServerResponse, string | undefined>();
  const revokedApiKeys = new RevokedApiKeys(redis);
  const settingsAddress = config.GRPC_SERVICES['settings'];
  const apiKeys =
    settingsAddress === undefined
      ? undefined
      : new ApiKeys({
          address: settingsAddress,
          callerKeys: config.CALLER_KEYS,
          clock: systemClock,
          revoked: revokedApiKeys,
          inUse: () => new Set([...eventStreams.values()].filter((id) => id !== undefined)),
          onRevoked: (id) => {
            for (const [stream, apiKeyId] of eventStreams) if (apiKeyId === id) stream.destroy();
          },
        });
  const drain = new Drain(config);
  const tenants = new Tenants(config.PLINTH_TENANTS);
  const consoleFolder = findWebFiles('console', config.CONSOLE_DIRECTORY);
  if (consoleFolder === undefined) log.warn('the console is not built; /console is not served');
  const referenceFolder = findWebFiles('reference', config.REFERENCE_DIRECTORY);
  if (referenceFolder === undefined) log.warn('the API reference is not built; /docs is not served');
  const document = openApiDocument({ endpoints, problems, statusByKind, prefix: config.PUBLIC_PREFIX });
  const signIn = consoleConfiguration(config);

  const guard = new IdempotencyGuard({
    records: new IdempotencyRecords(idempotencyRedis, {
      retentionSeconds: config.IDEMPOTENCY_RETENTION_SECONDS,
      markerMilliseconds: config.IDEMPOTENCY_MARKER_MILLISECONDS,
      bytesMax: config.IDEMPOTENCY_STORED_BYTES_MAX,
    }),
    settings: {
      headerName: config.IDEMPOTENCY_HEADER,
      requiredRoutes: new Set(config.IDEMPOTENCY_REQUIRED_ROUTES),
      executionMilliseconds: config.IDEMPOTENCY_TIMEOUT_MILLISECONDS,
      multipart: config.IDEMPOTENCY_MULTIPART,
      responseBytesMax: config.IDEMPOTENCY_RESPONSE_BYTES_MAX,
    },
    outcomes: metrics.idempotency,
    unstored: metrics.unstored,
    onCheckpoint,
    onStoreError: (error) => log.warn({ err: error }, 'idempotency records unavailable'),
  });

  const listener = createGateway({
    publicUrl,
    buffered,
    callerKeys: config.CALLER_KEYS,
    trustedProxies: config.TRUSTED_PROXIES,
    bodyMilliseconds: config.BODY_TIMEOUT_MILLISECONDS,
    routes: new Routes(endpoints, versions),
    versions,
    cors: new Cors({
      origins: config.CORS_ORIGINS,
      credentials: config.CORS_CREDENTIALS,
      development: config.NODE_ENV === 'development',
    }),
    credentials: new Credentials(
      [
        ...providers.map(({ remote, ...issuer }) => ({ ...issuer, keys: remote.find })),
        ...(devIssuer ? [devIssuer] : []),
      ],
      config.ROLE_PERMISSIONS,
      systemClock,
      apiKeys,
    ),
    tenants,
    policies: new Policies(config.RATE_LIMITS),
    limiter: new RateLimiter(
      redis,
      redis === idempotencyRedis ? config.IDEMPOTENCY_MARKER_MILLISECONDS : undefined,
    ),
    openRequests: new OpenRequests(config.TRUSTED_PROXIES, config.CONNECTIONS_PER_ADDRESS_MAX),
    guard,
    revokedApiKeys,
    upstreams,
    eventStreams,
    pages: new Pages([
      healthPage(),
      readinessPage(platform),
      problemPages(problems),
      openApiPage(document),
      openApiYamlPage(document),
      referencePage(document, signIn, referenceFolder ? readWebFiles(referenceFolder) : undefined),
      callerPage(tenants),
      operationsPage({
        guard,
        callerKeys: config.CALLER_KEYS,
        tracesUrl: config.TRACES_URL ?? null,
        tenants,
        upstreams: allUpstreams(),
        metrics,
        history,
        startedAt: systemClock.now(),
        checkRedis: () => Promise.all([redis.ping(), idempotencyRedis.ping()]),
      }),
      ...(devIssuer ? [devPages(devIssuer)] : []),
      ...(consoleFolder ? [rootPage(), consolePages(readWebFiles(consoleFolder), signIn)] : []),
    ]),
    metrics,
    spans: config.OTEL_EXPORTER_OTLP_ENDPOINT ? collectedSpans : noopSpans,
    log,
  });
  const server = createPublicServer(drain.watch(listener), {
    headersMilliseconds: config.HEADERS_TIMEOUT_MILLISECONDS,
    idleMilliseconds: config.IDLE_TIMEOUT_MILLISECONDS,
    keepAlive: drain.keepAlive(config.KEEP_ALIVE_MILLISECONDS),
    connectionsMax: config.CONNECTIONS_MAX,
    connectionsPerAddressMax: config.TRUSTED_PROXIES > 0 ? Infinity : config.CONNECTIONS_PER_ADDRESS_MAX,
    publicUrl,
    reporting: versions.reporting,
  });

  return {
    server,
    health,
    metrics: registry,
    beginDraining: () => {
      health.drain();
      platform.drain();
      drain.begin(server);
    },
    finish: () => {
      // Their clients reconnect to another gateway.
      for (const stream of eventStreams.keys()) stream.destroy();
      return drain.finish(server);
    },
    close: async () => {
      await Promise.all([...upstreams.values()].map(({ upstream }) => upstream.close()));
      apiKeys?.close();
      redis.disconnect();
      idempotencyRedis.disconnect();
    },
  };
}

function createUpstreams(config: GatewayConfig) {
  const settings = {
    concurrencyMax: config.UPSTREAM_CONCURRENCY_MAX,
    streamsMax: config.UPSTREAM_STREAMS_MAX,
    turns: config.UPSTREAM_TURNS,
    timeoutMilliseconds: config.UPSTREAM_TIMEOUT_MILLISECONDS,
    slowTimeoutMilliseconds: config.UPSTREAM_SLOW_TIMEOUT_MILLISECONDS,
    uploadRateMin: {
      bytes: (config.UPLOAD_BYTES_PER_SECOND_MIN * config.UPLOAD_RATE_MILLISECONDS) / 1_000,
      milliseconds: config.UPLOAD_RATE_MILLISECONDS,
    },
    breakerFailuresMax: config.BREAKER_FAILURES_MAX,
    breakerOpenMilliseconds: config.BREAKER_OPEN_MILLISECONDS,
  };
  const turns = new EventLoopTurns();
  return new Map(
    Object.entries(config.HTTP_SERVICES).map(([service, origin]) => {
      const upstream = new Upstream(service, origin, settings, systemClock);
      return [service, { upstream, stream: createStreamProxy(upstream, turns) }];
    }),
  );
}

const partsOf = (redis: Redis, idempotencyRedis: Redis, upstreams: ReturnType<typeof createUpstreams>) => ({
  redis: () => Promise.all([redis.ping(), idempotencyRedis.ping()]),
  ...Object.fromEntries([...upstreams].map(([service, { upstream }]) => [service, () => upstream.check()])),
});

const DEV_SEED_KEY = 'plinth:dev-issuer-seed';

/** Gateways on the same Redis share a seed, unless one is configured. */
async function openDevIssuer(config: GatewayConfig, redis: Redis, log: Log): Promise<DevIssuer> {
  const seed = config.DEV_ISSUER_KEY ?? (await sharedSeed(redis, log));
  return createDevIssuer(seed, config.OIDC_AUDIENCE, systemClock);
}

async function sharedSeed(redis: Redis, log: Log): Promise<string> {
  const own = randomSeed();
  try {
    await redis.setnx(DEV_SEED_KEY, own);
    return (await redis.get(DEV_SEED_KEY)) ?? own;
  } catch (error) {
    log.warn({ err: error }, 'Redis unavailable; development tokens are valid only until this process ends');
    return own;
  }
}
