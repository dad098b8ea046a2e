import autocannon from 'autocannon';
import { fork, spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { root } from '../../development/launcher/paths.mjs';
import type { BenchLine } from './bench-line.ts';
import { watchProcesses, type NamedProcess } from './processes.ts';
import { tokenOf } from './token.ts';

const CONNECTIONS = 50;
const SECONDS = 5;
/** The candidates alternate, so that load on the machine affects all of them. */
const ROUNDS = 3;

const BODY = '{"value":"fr-CA"}';
const SETTING = '/api/v1/settings/user/Service.Localization.PreferredCulture';

type Candidate = 'bare' | 'fastify' | 'gateway' | 'post' | 'first' | 'replay' | 'two';

/** Requests a second that most installations have, far below what any of them can do. */
const RATES = [200, 1_000];

/** The figures of one round of a candidate. */
interface RoundFigures {
  requestsPerSecond: number;
  /** Processor time of its processes per request, which does not depend on the load of the machine. */
  microsecondsPerRequest: number;
  p50: number;
  p99: number;
}

interface Part extends NamedProcess {
  url: string;
}

/** The gateway with everything on, beside a bare proxy for the same service, and beside Fastify with the same duties. */
export async function benchGateway({ redisUrl }: { redisUrl: string }): Promise<BenchLine[]> {
  const processes: ChildProcess[] = [];
  try {
    const upstream = await startPart(processes, 'upstream');
    const bare = await startPart(processes, 'bare', upstream.url);
    const gateways = [
      await startGateway('gateway one', processes, upstream.url, redisUrl),
      await startGateway('gateway two', processes, upstream.url, redisUrl),
    ];
    const [gateway] = gateways as [Part, Part];
    const headers = { authorization: `Bearer ${await tokenOf(gateway.url, { roles: ['editor'] })}` };
    const { keys } = (await (await fetch(`${gateway.url}/dev/jwks`)).json()) as { keys: unknown };
    const fastify = await startPart(processes, 'fastify', upstream.url, JSON.stringify(keys), redisUrl);
    return [
      ...report(await measure(bare, fastify, gateways, headers)),
      ...(await atFixedRates(gateway, fastify, headers)),
    ];
  } finally {
    for (const child of processes) child.kill('SIGKILL');
  }
}

async function measure(bare: Part, fastify: Part, gateways: Part[], headers: Record<string, string>) {
  const key = randomUUID();
  const [gateway] = gateways as [Part];
  const put = (more: Record<string, string>) => ({
    url: gateway.url + SETTING,
    method: 'PUT' as const,
    body: BODY,
    headers: { ...headers, 'content-type': 'application/json', ...more },
  });
  const read = readOf(headers);
  await fetch(gateway.url + SETTING, put({ 'idempotency-key': key }));
  const halves = gateways.map((part) => ({ ...read(part), connections: CONNECTIONS / gateways.length }));
  const rounds: Record<Candidate, RoundFigures[]> = {
    bare: [],
    fastify: [],
    gateway: [],
    post: [],
    first: [],
    replay: [],
    two: [],
  };
  for (let round = 0; round < ROUNDS; round++) {
    rounds.bare.push(await load([bare], [read(bare)]));
    rounds.fastify.push(await load([fastify], [read(fastify)]));
    rounds.gateway.push(await load([gateway], [read(gateway)]));
    rounds.post.push(await load([gateway], [put({})]));
    rounds.first.push(await load([gateway], [{ ...put({}), requests: [{ setupRequest: withFreshKey }] }]));
    rounds.replay.push(await load([gateway], [put({ 'idempotency-key': key })]));
    rounds.two.push(await load(gateways, halves));
  }
  return rounds;
}

const readOf =
  (headers: Record<string, string>) =>
  ({ url }: Part): autocannon.Options => ({ url: url + SETTING, headers });

/** The same requests as they come in everyday use: much fewer than are possible. */
async function atFixedRates(
  gateway: Part,
  fastify: Part,
  headers: Record<string, string>,
): Promise<BenchLine[]> {
  const read = readOf(headers);
  const lines: BenchLine[] = [];
  for (const overallRate of RATES) {
    const rounds: Record<'gateway' | 'fastify', RoundFigures[]> = { gateway: [], fastify: [] };
    for (let round = 0; round < ROUNDS; round++) {
      rounds.fastify.push(await load([fastify], [{ ...read(fastify), overallRate }]));
      rounds.gateway.push(await load([gateway], [{ ...read(gateway), overallRate }]));
    }
    const [measured, reference] = [quietest(rounds.gateway), quietest(rounds.fastify)];
    lines.push({
      job: `${overallRate} requests/s, against Fastify with tokens and limits`,
      measured: describe(measured),
      reference: describe(reference),
      ratio: measured.microsecondsPerRequest / reference.microsecondsPerRequest,
      goal: 'processor 0.8, p99 1.1',
    });
  }
  return lines;
}

/** The round that the load of the machine affected least. */
const quietest = (rounds: readonly RoundFigures[]): RoundFigures => ({
  requestsPerSecond: Math.max(...rounds.map(({ requestsPerSecond }) => requestsPerSecond)),
  microsecondsPerRequest: Math.min(...rounds.map(({ microsecondsPerRequest }) => microsecondsPerRequest)),
  p50: Math.min(...rounds.map(({ p50 }) => p50)),
  p99: Math.min(...rounds.map(({ p99 }) => p99)),
});

const describe = ({ requestsPerSecond, microsecondsPerRequest, p50, p99 }: RoundFigures): string =>
  `${Math.round(requestsPerSecond)} requests/s, ${Math.round(microsecondsPerRequest)} µs of processor each, p50 ${p50} ms, p99 ${p99} ms`;

const withFreshKey = (request: autocannon.Request): autocannon.Request => ({
  ...request,
  headers: { ...request.headers, 'idempotency-key': randomUUID() },
});

async function load(parts: readonly Part[], loads: readonly autocannon.Options[]): Promise<RoundFigures> {
  const usedSince = watchProcesses(parts);
  const results = await Promise.all(loads.map(fire));
  const seconds = usedSince().reduce((total, { cpuSeconds }) => total + cpuSeconds, 0);
  const sum = (valueOf: (result: autocannon.Result) => number) =>
    results.reduce((total, result) => total + valueOf(result), 0);
  return {
    requestsPerSecond: sum(({ requests }) => requests.average),
    microsecondsPerRequest: (seconds * 1e6) / sum(({ requests }) => requests.total),
    p50: Math.max(...results.map(({ latency }) => latency.p50)),
    p99: Math.max(...results.map(({ latency }) => latency.p99)),
  };
}

async function fire(options: autocannon.Options): Promise<autocannon.Result> {
  const result = await autocannon({ connections: CONNECTIONS, duration: SECONDS, ...options });
  if (result.non2xx > 0 || result.errors > 0) {
    throw new Error(`${options.url}: ${result.non2xx} refused, ${result.errors} failed.`);
  }
  return result;
}

function report(rounds: Record<Candidate, RoundFigures[]>): BenchLine[] {
  const rate = (candidate: Candidate) => quietest(rounds[candidate]).requestsPerSecond;
  const compared = (job: string, measured: Candidate, reference: Candidate, goal?: number): BenchLine => ({
    job,
    measured: describe(quietest(rounds[measured])),
    reference: describe(quietest(rounds[reference])),
    ratio: rate(measured) / rate(reference),
    ...(goal === undefined ? {} : { goal: `at least ${goal}` }),
  });
  return [
    compared('all conventions on, against bare http-proxy-middleware on Express', 'gateway', 'bare', 1),
    compared('all conventions on, against Fastify with tokens and limits', 'gateway', 'fastify', 1),
    compared('idempotent write, first time, against the same write without a key', 'first', 'post'),
    compared('idempotent write, replayed, against the same write without a key', 'replay', 'post', 0.8),
    compared('two gateways against one, where cores allow', 'two', 'gateway', 1.8),
  ];
}

async function startPart(processes: ChildProcess[], kind: string, ...options: string[]): Promise<Part> {
  const child = fork(join(root, 'tools', 'verification', 'bench', 'gateway-parts.mjs'), [kind, ...options]);
  processes.push(child);
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return { name: kind, url: `http://127.0.0.1:${port}`, pid: child.pid! };
}

async function startGateway(
  name: string,
  processes: ChildProcess[],
  upstream: string,
  redisUrl: string,
): Promise<Part> {
  const env = {
    ...process.env,
    NODE_ENV: 'development',
    HTTP_HOST: '127.0.0.1',
    HTTP_PORT: '0',
    ADMIN_PORT: '0',
    LOG_LEVEL: 'info',
    DEV_ISSUER: 'true',
    DEV_ISSUER_KEY: 'the bench of the gateway',
    CALLER_KEYS: 'a key for the bench only',
    REDIS_URL: redisUrl,
    HTTP_SERVICES: `settings=${upstream}`,
    RATE_LIMITS: '{"default":{"user":100000000,"tenant":100000000,"address":100000000}}',
  };
  const main = join(root, 'dist', 'apps', 'gateway', 'main.js');
  const child = spawn(process.execPath, [main], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  processes.push(child);
  for await (const line of createInterface(child.stdout!)) {
    const { port } = JSON.parse(line) as { port?: number };
    if (port !== undefined) return { name, url: `http://127.0.0.1:${port}`, pid: child.pid! };
  }
  throw new Error('The gateway did not start; was `npm run build` run?');
}
