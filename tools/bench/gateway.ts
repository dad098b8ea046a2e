import autocannon from 'autocannon';
import { fork, spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { root } from '../launcher/paths.mjs';
import type { BenchLine } from './bench-line.ts';

const CONNECTIONS = 50;
const SECONDS = 5;
/** The rounds of all candidates take turns, so that a busy machine is busy for each of them. */
const ROUNDS = 3;

const BODY = '{"value":"fr-CA"}';
const SETTING = '/api/v1/settings/user/Service.Localization.PreferredCulture';

type Candidate = 'bare' | 'gateway' | 'post' | 'first' | 'replay' | 'two';

/** The gateway with all conventions on, beside a bare proxy before the same service. */
export async function benchGateway({ redisUrl }: { redisUrl: string }): Promise<BenchLine[]> {
  const processes: ChildProcess[] = [];
  try {
    const upstream = await startPart(processes, 'upstream');
    const bare = await startPart(processes, 'bare', upstream);
    const gateways = [
      await startGateway(processes, upstream, redisUrl),
      await startGateway(processes, upstream, redisUrl),
    ];
    const headers = { authorization: `Bearer ${await tokenOf(gateways[0]!)}` };
    return report(await measure(bare, gateways, headers));
  } finally {
    for (const child of processes) child.kill('SIGKILL');
  }
}

async function measure(bare: string, [gateway, second]: string[], headers: Record<string, string>) {
  const key = randomUUID();
  const json = { ...headers, 'content-type': 'application/json' };
  const put = (more: Record<string, string>) => ({
    url: gateway! + SETTING,
    method: 'PUT' as const,
    body: BODY,
    headers: { ...json, ...more },
  });
  await fetch(gateway! + SETTING, put({ 'idempotency-key': key }));
  const rates: Record<Candidate, number[]> = {
    bare: [],
    gateway: [],
    post: [],
    first: [],
    replay: [],
    two: [],
  };
  for (let round = 0; round < ROUNDS; round++) {
    rates.bare.push(await rate({ url: bare + SETTING, headers }));
    rates.gateway.push(await rate({ url: gateway! + SETTING, headers }));
    rates.post.push(await rate(put({})));
    rates.first.push(await rate({ ...put({}), requests: [{ setupRequest: withFreshKey }] }));
    rates.replay.push(await rate(put({ 'idempotency-key': key })));
    const both = [gateway!, second!].map((url) =>
      rate({ url: url + SETTING, headers, connections: CONNECTIONS / 2 }),
    );
    rates.two.push((await Promise.all(both)).reduce((left, right) => left + right, 0));
  }
  return rates;
}

const withFreshKey = (request: autocannon.Request): autocannon.Request => ({
  ...request,
  headers: { ...request.headers, 'idempotency-key': randomUUID() },
});

async function rate(options: autocannon.Options): Promise<number> {
  const result = await autocannon({ connections: CONNECTIONS, duration: SECONDS, ...options });
  if (result.non2xx > 0 || result.errors > 0) {
    throw new Error(`${options.url}: ${result.non2xx} refused, ${result.errors} failed.`);
  }
  return result.requests.average;
}

function report(rates: Record<Candidate, number[]>): BenchLine[] {
  const best = (candidate: Candidate) => Math.max(...rates[candidate]);
  const line = (job: string, measured: Candidate, reference: Candidate, goal?: number): BenchLine => ({
    job,
    measured: `${Math.round(best(measured))} requests/s`,
    reference: `${Math.round(best(reference))} requests/s`,
    ratio: best(reference) / best(measured),
    ...(goal === undefined ? {} : { goal }),
  });
  return [
    line('gateway, all conventions on, against bare http-proxy-middleware on Express', 'gateway', 'bare', 1),
    line('idempotent write, first time, against the same write without a key', 'first', 'post'),
    line('idempotent write, replayed, against the same write without a key', 'replay', 'post', 1 / 0.8),
    line('two gateways against one (goal where cores allow)', 'two', 'gateway'),
  ];
}

async function startPart(processes: ChildProcess[], kind: string, target = ''): Promise<string> {
  const child = fork(join(root, 'tools', 'bench', 'gateway-parts.mjs'), [kind, target]);
  processes.push(child);
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return `http://127.0.0.1:${port}`;
}

async function startGateway(processes: ChildProcess[], upstream: string, redisUrl: string): Promise<string> {
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
    if (port !== undefined) return `http://127.0.0.1:${port}`;
  }
  throw new Error('The gateway did not start; was `npm run build` run?');
}

async function tokenOf(gateway: string): Promise<string> {
  const body = JSON.stringify({ sub: 'bench', name: 'Bench', roles: ['editor'] });
  const response = await fetch(`${gateway}/dev/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  return ((await response.json()) as { accessToken: string }).accessToken;
}
