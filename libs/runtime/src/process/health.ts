import { createServer, type Server } from 'node:http';
import { Problem } from '@plinth/kernel/problem';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { measureEventLoopLag } from './event-loop-lag';
import { HEADERS_KEPT_MAX, HEADERS_MILLISECONDS_MAX, timeoutsCheckedEvery } from './http-head';
import { inTime } from './in-time';
import type { Close } from './lifecycle';
import type { Log } from './log';

/** Resolves when a part is usable and throws when it is not. */
export type Check = () => Promise<unknown>;

export interface Readiness {
  ready: boolean;
  parts: Record<string, 'up' | 'down' | 'draining'>;
  /** What is wrong with the parts that are down, with addresses: for operators only. */
  causes: Record<string, string>;
}

export interface HealthOptions {
  /** Parts that are checked and shown, but without which the process serves most of what it is there for. */
  informative?: Record<string, Check>;
  /** Takes one line for each change of a part. */
  log?: Pick<Log, 'warn' | 'info'>;
}

const CHECK_MILLISECONDS_MAX = 2_000;

/** The longest interval of a timer. */
const NEVER_MILLISECONDS = 2 ** 31 - 1;

/** Knows which parts a process needs and whether it is about to stop. */
export class Health {
  private readonly drained = new AbortController();

  /** What is wrong with each part that was down when it was checked last. */
  private readonly down = new Map<string, string>();

  /** @param checks of the parts without which the process cannot serve anything */
  constructor(
    private readonly checks: Record<string, Check>,
    private readonly options: HealthOptions = {},
  ) {}

  /** From now on the process is not ready: it finishes what it has and takes nothing new. */
  drain(): void {
    this.drained.abort();
  }

  /** Aborted when the process is about to stop; what lasts, such as a stream, ends then. */
  get draining(): AbortSignal {
    return this.drained.signal;
  }

  async readiness(): Promise<Readiness> {
    const checks = Object.entries({ ...this.options.informative, ...this.checks });
    const results = await Promise.all(
      checks.map(async ([part, check]) => ({ part, cause: await causeOf(check) })),
    );
    const parts: Readiness['parts'] = {};
    for (const { part, cause } of results) {
      this.note(part, cause);
      parts[part] = cause === undefined ? 'up' : 'down';
    }
    if (this.draining.aborted) parts['process'] = 'draining';
    const ready = ['process', ...Object.keys(this.checks)].every((part) => (parts[part] ?? 'up') === 'up');
    return { ready, parts, causes: Object.fromEntries(this.down) };
  }

  private note(part: string, cause: string | undefined): void {
    const before = this.down.get(part);
    if (cause === undefined) this.down.delete(part);
    else this.down.set(part, cause);
    if (cause !== undefined && cause !== before) this.options.log?.warn({ part, cause }, 'part is down');
    if (cause === undefined && before !== undefined) this.options.log?.info({ part }, 'part is up again');
  }
}

/** The message of an error; that of a problem is in its cause, since its own is for callers. */
function messageOf(error: unknown): string {
  const { cause } = error as Error;
  if (error instanceof Problem && cause instanceof Error) return cause.message;
  return (error as Error).message || String(error);
}

/** What is wrong with a part; undefined where it is usable. */
async function causeOf(check: Check): Promise<string | undefined> {
  const checked = check().then(
    () => undefined,
    (error: unknown) => messageOf(error),
  );
  return inTime(CHECK_MILLISECONDS_MAX, checked, () => 'It does not respond in time.');
}

/** A registry of metrics with those of the process and its event loop in it. */
export function createMetrics(process: string): Registry {
  const metrics = new Registry();
  metrics.setDefaultLabels({ process });
  // Its looks at the event loop would wake a process that rests.
  collectDefaultMetrics({ register: metrics, eventLoopMonitoringPrecision: NEVER_MILLISECONDS });
  for (const what of ['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99'])
    metrics.removeSingleMetric(`nodejs_eventloop_lag_${what}_seconds`);
  measureEventLoopLag(metrics);
  return metrics;
}

/** Probes and scrapes have a few hundred bytes of headers. */
const ADMIN_HEADER_BYTES_MAX = 8 * 1024;
/** Longer than any scrape waits for the metrics, and for who does not read them. */
const ADMIN_IDLE_MILLISECONDS_MAX = 60_000;

/** Serves `/healthz` (the process runs), `/readyz` (its parts respond) and `/metrics`, apart from the interface. */
export async function serveAdmin(
  config: { HTTP_HOST: string; ADMIN_PORT: number },
  health: Health,
  metrics: Registry,
  { headersMilliseconds = HEADERS_MILLISECONDS_MAX } = {},
): Promise<{ port: number; close: Close }> {
  const limits = {
    maxHeaderSize: ADMIN_HEADER_BYTES_MAX,
    headersTimeout: headersMilliseconds,
    // Nobody has a body to send here.
    requestTimeout: headersMilliseconds,
    connectionsCheckingInterval: timeoutsCheckedEvery(headersMilliseconds),
  };
  const server = createServer(limits, (req, res) => {
    void answer(req.url ?? '/', health, metrics)
      // A metric that cannot be read must not end the process.
      .catch((error: unknown) => ({ status: 500, type: 'text/plain', body: messageOf(error) }))
      .then(({ status, type, body }) => {
        res.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body);
      });
  });
  server.maxHeadersCount = HEADERS_KEPT_MAX;
  server.setTimeout(ADMIN_IDLE_MILLISECONDS_MAX);
  const port = await listen(server, config.ADMIN_PORT, config.HTTP_HOST);
  // What is configured wrongly is in the log before the first probe or client comes.
  void health.readiness();
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
