import { createServer, type Server } from 'node:http';
import { collectDefaultMetrics, Registry } from 'prom-client';
import type { Close } from './lifecycle';

/** Resolves when a part is usable and throws when it is not. */
export type Check = () => Promise<unknown>;

export interface Readiness {
  ready: boolean;
  parts: Record<string, 'up' | 'down' | 'draining'>;
}

const CHECK_MILLISECONDS_MAX = 2_000;

/** How often a process looks how late its event loop is. Each look wakes it, and a platform has many processes. */
const LAG_MILLISECONDS = 50;

/** Knows which parts a process needs and whether it is about to stop. */
export class Health {
  private readonly drained = new AbortController();

  constructor(private readonly checks: Record<string, Check>) {}

  /** From now on the process is not ready: it finishes what it has and takes nothing new. */
  drain(): void {
    this.drained.abort();
  }

  /** Aborted when the process is about to stop; what lasts, such as a stream, ends then. */
  get draining(): AbortSignal {
    return this.drained.signal;
  }

  async readiness(): Promise<Readiness> {
    const states = await Promise.all(
      Object.entries(this.checks).map(async ([part, check]) => [part, await stateOf(check)] as const),
    );
    const parts: Readiness['parts'] = Object.fromEntries(states);
    if (this.draining.aborted) parts['process'] = 'draining';
    return { ready: Object.values(parts).every((state) => state === 'up'), parts };
  }
}

async function stateOf(check: Check): Promise<'up' | 'down'> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'down'>((resolve) => {
    timer = setTimeout(() => resolve('down'), CHECK_MILLISECONDS_MAX);
  });
  const checked = check().then(
    () => 'up' as const,
    () => 'down' as const,
  );
  return Promise.race([checked, late]).finally(() => clearTimeout(timer));
}

/** A registry of metrics with those of the process and its event loop in it. */
export function createMetrics(process: string): Registry {
  const metrics = new Registry();
  metrics.setDefaultLabels({ process });
  collectDefaultMetrics({ register: metrics, eventLoopMonitoringPrecision: LAG_MILLISECONDS });
  return metrics;
}

/** Serves `/healthz` (the process runs), `/readyz` (its parts respond) and `/metrics`, apart from the interface. */
export async function serveAdmin(
  config: { HTTP_HOST: string; ADMIN_PORT: number },
  health: Health,
  metrics: Registry,
): Promise<{ port: number; close: Close }> {
  const server = createServer((req, res) => {
    void answer(req.url ?? '/', health, metrics).then(({ status, type, body }) => {
      res.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body);
    });
  });
  const port = await listen(server, config.ADMIN_PORT, config.HTTP_HOST);
  return {
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        // A probe that repeats on one connection would keep it open for ever.
        server.closeAllConnections();
      }),
  };
}

async function answer(url: string, health: Health, metrics: Registry) {
  const json = (status: number, value: unknown) => ({
    status,
    type: 'application/json',
    body: JSON.stringify(value),
  });
  if (url === '/healthz') return json(200, { alive: true });
  if (url === '/metrics') return { status: 200, type: metrics.contentType, body: await metrics.metrics() };
  if (url !== '/readyz') return json(404, { status: 404 });
  const readiness = await health.readiness();
  return json(readiness.ready ? 200 : 503, readiness);
}

/** Listens and returns the port taken. */
export function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      const address = server.address();
      resolve(typeof address === 'object' && address ? address.port : port);
    });
  });
}
