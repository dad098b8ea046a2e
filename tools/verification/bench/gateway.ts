import autocannon from 'autocannon';
import { fork, spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { root } from '../../development/launcher/paths.mjs';
import type { BenchLine } from './bench-line.ts';
import { watchProcesses, type NamedProcess } from './processes.ts';
import { median } from './times.ts';
import { tokenOf } from './token.ts';

const CONNECTIONS = 50;
/**
 * Candidates alternate in short rounds, and each round is compared with that of the other candidate beside it: what slows
 * the machine for a while slows both, and the median leaves out what slowed one of them.
 */
const FULL_LOAD = { rounds: 7, seconds: 2 };
/** So few requests need longer rounds. */
const FIXED_RATE = { rounds: 3, seconds: 5 };

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

type Rounds<Name extends string> = Record<Name, RoundFigures[]>;

interface Part extends NamedProcess {
  url: string;
}

/** What a candidate is loaded with, and whose processor time that takes. */
interface Load {
  parts: readonly Part[];
  options: readonly autocannon.Options[];
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
      ...report(await atFullLoad(bare, fastify, gateways, headers)),
      ...(await atFixedRates(gateway, fastify, headers)),
    ];
  } finally {
    for (const child of processes) child.kill('SIGKILL');
  }
}

async function atFullLoad(bare: Part, fastify: Part, gateways: Part[], headers: Record<string, string>) {
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
  const onGateway = (options: autocannon.Options): Load => ({ parts: [gateway], options: [options] });
  return inTurns<Candidate>(FULL_LOAD, {
    bare: { parts: [bare], options: [read(bare)] },
    fastify: { parts: [fastify], options: [read(fastify)] },
    gateway: onGateway(read(gateway)),
    post: onGateway(put({})),
    first: onGateway({ ...put({}), requests: [{ setupRequest: withFreshKey }] }),
    replay: onGateway(put({ 'idempotency-key': key })),
    two: {
      parts: gateways,
      options: gateways.map((part) => ({ ...read(part), connections: CONNECTIONS / gateways.length })),
    },
  });
}

/** Loads the candidates in turns, every second round in the opposite order; the first round only warms up. */
async function inTurns<Name extends string>(
  { rounds, seconds }: typeof FULL_LOAD,
  candidates: Record<Name, Load>,
): Promise<Rounds<Name>> {
  const names = Object.keys(candidates) as Name[];
  const figures = Object.fromEntries(names.map((name) => [name, []])) as unknown as Rounds<Name>;
  for (let round = 0; round <= rounds; round++) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const one = await load(candidates[name], seconds);
      if (round > 0) figures[name].push(one);
    }
  }
  return figures;
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
    const rounds = await inTurns(FIXED_RATE, {
      fastify: { parts: [fastify], options: [{ ...read(fastify), overallRate }] },
      gateway: { parts: [gateway], options: [{ ...read(gateway), overallRate }] },
    });
    const job = `${overallRate} requests/s, against Fastify with tokens and limits`;
    lines.push(compared(job, rounds.gateway, rounds.fastify, FASTIFY_GOAL));
  }
  return lines;
}

const FASTIFY_GOAL = 'processor time 0.8, p99 1.1';

function compared(
  job: string,
  measured: readonly RoundFigures[],
  reference: readonly RoundFigures[],
  goal?: string,
): BenchLine {
  const ratio = (figure: keyof RoundFigures): number =>
    median(measured.map((round, index) => round[figure] / reference[index]![figure]));
  return {
    job,
    measured: describe(measured),
    reference: describe(reference),
    ratio: ratio('requestsPerSecond'),
    ...(goal === undefined ? {} : { goal }),
    details: [
      `processor time ${ratio('microsecondsPerRequest').toFixed(2)}, p99 ${ratio('p99').toFixed(2)} of the reference`,
    ],
  };
}

function describe(rounds: readonly RoundFigures[]): string {
  const figure = (name: keyof RoundFigures): number => median(rounds.map((round) => round[name]));
  return (
    `${Math.round(figure('requestsPerSecond'))} requests/s, ` +
    `${Math.round(figure('microsecondsPerRequest'))} µs of processor each, p50 ${figure('p50')} ms, p99 ${figure('p99')} ms`
  );
}

const withFreshKey = (request: autocannon.Request): autocannon.Request => ({
  ...request,
  headers: { ...request.headers, 'idempotency-key': randomUUID() },
});

async function load({ parts, options }: Load, duration: number): Promise<RoundFigures> {
  const usedSince = watchProcesses(parts);
  const results = await Promise.all(options.map((one) => fire({ ...one, duration })));
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
  const result = await autocannon({ connections: CONNECTIONS, ...options });
  if (result.non2xx > 0 || result.errors > 0) {
    throw new Error(`${options.url}: ${result.non2xx} refused, ${result.errors} failed.`);
  }
  return result;
}

function report(rounds: Rounds<Candidate>): BenchLine[] {
  const line = (job: string, measured: Candidate, reference: Candidate, goal?: string) =>
    compared(job, rounds[measured], rounds[reference], goal);
  return [
    line(
      'all conventions on, against bare http-proxy-middleware on Express',
      'gateway',
      'bare',
      'at least 1',
    ),
    line('all conventions on, against Fastify with tokens and limits', 'gateway', 'fastify', FASTIFY_GOAL),
    line('a write without a key, against a read', 'post', 'gateway'),
    line('idempotent write, first time, against the same write without a key', 'first', 'post'),
    line(
      'idempotent write, replayed, against the same write without a key',
      'replay',
      'post',
      'at least 0.8',
    ),
    line('two gateways against one, where cores allow', 'two', 'gateway', 'at least 1.8'),
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
