import { createServer, type Server } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { shareUsedUp } from '@plinth/contracts/platform/problems';
import type { ShareScope } from '@plinth/kernel/fair-shares';
import { ByteBudget, measureBytes } from '@plinth/runtime/process/byte-budget';
import { Drain, drainSeconds } from '@plinth/runtime/process/drain';
import { serveGrpc, type GrpcService } from '@plinth/runtime/rpc/grpc';
import { listen, serveAdmin, type Health } from '@plinth/runtime/process/health';
import {
  HEADERS_KEPT_MAX,
  HEADERS_MILLISECONDS_MAX,
  timeoutsCheckedEvery,
} from '@plinth/runtime/process/http-head';
import type { Close } from '@plinth/runtime/process/lifecycle';
import type { Log } from '@plinth/runtime/process/log';
import { refuseUnboundRole } from '@plinth/runtime/postgres/postgres';
import { measureParts, measureStore } from '@plinth/runtime/postgres/store-metrics';
import type { Express } from 'express';
import type { FairPool } from '@plinth/runtime/postgres/fair-pool';
import type { Registry } from 'prom-client';

interface Served {
  config: {
    NODE_ENV: string;
    HTTP_HOST: string;
    HTTP_PORT: number;
    GRPC_PORT: number;
    BUFFERED_MESSAGE_BYTES_MAX: number;
    ADMIN_PORT: number;
    DRAIN_SECONDS?: number | undefined;
  };
  log: Log;
  health: Health;
  metrics: Registry;
  pool?: FairPool | undefined;
  /** For imports and exports; undefined for a service without them. */
  bulkPool?: FairPool | undefined;
}

/** Longer than the gateway keeps an idle connection, so that it is always the gateway that closes it. */
export const KEEP_ALIVE_MILLISECONDS = 65_000;
/** The signed caller repeats the path, so the gateway's headers are larger than any that it accepts. */
export const HEADER_BYTES_MAX = 64 * 1024;

/** Opens the ports of a service; when it stops no request is lost, and its parts close after the last one. */
export async function serveService(
  app: Express,
  grpcServices: readonly GrpcService[],
  { config, log, health, metrics, pool, bulkPool }: Served,
  onClose: (close: Close) => void,
): Promise<void> {
  if (pool) await refuseUnboundRole(pool);
  if (pool) measureStore(metrics, pool, bulkPool);
  measureParts(metrics, health);
  const admin = await serveAdmin(config, health, metrics);
  onClose(admin.close);
  const bytes = new ByteBudget(config.BUFFERED_MESSAGE_BYTES_MAX);
  measureBytes(metrics, { messages: bytes });
  const refused = (scope: ShareScope) => shareUsedUp(scope, 'large messages');
  const grpc = await serveGrpc(config, grpcServices, { bytes, refused });
  onClose(grpc.close);
  const drain = new Drain(config);
  const limits = {
    maxHeaderSize: HEADER_BYTES_MAX,
    headersTimeout: HEADERS_MILLISECONDS_MAX,
    connectionsCheckingInterval: timeoutsCheckedEvery(HEADERS_MILLISECONDS_MAX),
    ...drain.keepAlive(KEEP_ALIVE_MILLISECONDS),
    // Uploads may take long; the gateway limits the time of requests from outside.
    requestTimeout: 0,
  };
  const server = createServer(limits, drain.watch(app));
  server.maxHeadersCount = HEADERS_KEPT_MAX;
  const port = await listen(server, config.HTTP_PORT, config.HTTP_HOST);
  onClose(() => drain.finish(server));
  onClose(async () => {
    health.drain();
    drain.begin(server);
    await pause(drainSeconds(config) * 1000);
  });
  log.info({ http: port, grpc: grpc.port, admin: admin.port }, 'ready');
}

/** Stops accepting connections, closes idle ones, and waits for open requests. */
export const finish = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
