import { fork, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import pg from 'pg';
import { Pool } from 'undici';
import { root } from '../../development/launcher/paths.mjs';
import type { BenchLine } from './bench-line.ts';
import type { BenchTarget } from './platform.ts';
import { watchProcesses, type NamedProcess, type ProcessUsage } from './processes.ts';
import { tokenOf } from './token.ts';

const REFERENCE_DATABASE = 'bench_reference';
const REST_SECONDS = 60;
/** A process that has just started still compiles, collects garbage and connects. */
const STARTED_MILLISECONDS = 240_000;
const REST = 'rest';
/** Between two measurements, so that what follows from a write is not counted with the next. */
const SETTLING_MILLISECONDS = 1_500;
/** After a hundred requests much of the code is still interpreted; in a service that has run for a while it is compiled. */
const WARM_UP = 2_000;
/** How many requests a second a write gets prepared for that needs something to be there; with fewer, it ends earlier. */
const PREPARED_PER_SECOND = 300;
const CLIENTS_MAX = 64;
const WARM_UP_SECONDS_MAX = 20;

export interface WritesOptions {
  /** Names of the writes to measure; all where there are none. */
  only: readonly string[];
  clients: readonly number[];
  seconds: number;
  /** Between how many tenants the clients change. */
  tenants: number;
  /** Takes each line when it is measured: all writes take a quarter of an hour. */
  report: (line: BenchLine) => void;
}

interface Call {
  method: 'POST' | 'PUT';
  path: string;
  body: unknown;
}

/** One kind of write: through the gateway, and its effect at the reference. */
interface Write {
  name: string;
  /** What another person does before each request, which is not measured. */
  before?: (number: number) => Call[];
  /** What has to be there once in each tenant. */
  setUp?: Call;
  platform: (number: number) => Call;
  reference?: (number: number) => Call;
}

const post = (path: string, body?: unknown): Call => ({ method: 'POST', path, body });
const put = (path: string, body: unknown): Call => ({ method: 'PUT', path, body });

/** Makes names new in each run. */
const RUN = randomUUID().slice(0, 8);
const cultures = ['de-DE', 'en-GB', 'fr-FR', 'it-IT'];
const cultureOf = (number: number) => cultures[number % cultures.length]!;
const zones = ['Europe/Paris', 'Europe/Rome', 'Europe/Berlin', 'Europe/Vienna'];
const templateOf = (number: number) => ({ name: `bench-${RUN}-${number}`, content: 'Hello {{ name }}' });
const moveTo = (number: number, targetState: string) =>
  post(`/workflow/Invoice/${RUN}-${number}/transition`, { targetState });
const entryOn = (entity: string, number: number) => ({ type: 'Bench', entity, body: `entry ${number}` });

const writes: readonly Write[] = [
  {
    name: 'entry',
    platform: (number) =>
      post(`/timeline/Bench/${RUN}-${number % 1_000}/entries`, { entryType: 0, body: `entry ${number}` }),
    reference: (number) => post('/entry', entryOn(`${RUN}-${number % 1_000}`, number)),
  },
  {
    name: 'entry-on-one',
    platform: (number) => post(`/timeline/Bench/one/entries`, { entryType: 0, body: `entry ${number}` }),
    reference: (number) => post('/entry', entryOn('one', number)),
  },
  {
    name: 'transition',
    platform: (number) => moveTo(number, 'Submitted'),
    reference: (number) =>
      post('/transition', { type: 'Invoice', entity: `${RUN}-${number}`, state: 'Submitted' }),
  },
  {
    // Another person has asked for it.
    name: 'approval',
    before: (number) => [moveTo(number, 'Submitted'), moveTo(number, 'Approved')],
    platform: (number) => moveTo(number, 'Approved'),
  },
  {
    name: 'publish',
    before: (number) => [post('/templates', templateOf(number))],
    platform: (number) => post(`/templates/${templateOf(number).name}/publish`),
  },
  {
    name: 'render',
    setUp: post('/templates', { name: `bench-${RUN}`, content: 'Hello {{ name }}' }),
    platform: () => post(`/templates/bench-${RUN}/preview`, { data: { name: 'Ada' } }),
  },
  {
    name: 'template',
    platform: (number) => post('/templates', templateOf(number)),
    reference: (number) => post('/template', templateOf(number)),
  },
  {
    name: 'setting',
    platform: (number) =>
      put('/settings/user/Service.Localization.PreferredCulture', { value: cultureOf(number) }),
    reference: (number) =>
      put('/setting', { owner: `user-${number % 16}`, name: 'culture', value: cultureOf(number) }),
  },
  {
    name: 'settings',
    platform: (number) =>
      put('/settings/user', {
        items: [
          { name: 'Service.Localization.PreferredCulture', value: cultureOf(number) },
          { name: 'Service.Timing.PreferredTimezone', value: zones[number % zones.length] },
        ],
      }),
  },
  {
    name: 'follow',
    platform: (number) => post(`/timeline/Bench/${RUN}-${number}/follow`),
    reference: (number) => post('/follow', { type: 'Bench', entity: `${RUN}-${number}`, person: 'ada' }),
  },
  {
    name: 'contact',
    platform: (number) =>
      post('/contacts', {
        externalId: `${RUN}-${number}`,
        firstName: 'Ada',
        lastName: 'Lovelace',
        email: `${RUN}-${number}@example.org`,
        channel: 'Email',
      }),
    reference: (number) => post('/contact', { name: 'Ada Lovelace', email: `${RUN}-${number}@example.org` }),
  },
];

/** Everyday writes with all duties on, beside the same effects by Express and pg, in turns. */
export async function benchWrites(target: BenchTarget, options: WritesOptions): Promise<void> {
  const unknown = options.only.filter(
    (name) => name !== REST && !writes.some((write) => write.name === name),
  );
  if (unknown.length > 0) throw new Error(`There is no write ${unknown.join(', ')}.`);
  const isChosen = (name: string) => options.only.length === 0 || options.only.includes(name);
  const chosen = writes.filter(({ name }) => isChosen(name));
  const { report } = options;
  if (isChosen(REST)) report(await measureRest(target));
  const reference = await startReference(target);
  const load = await startLoad(target, options, reference);
  try {
    for (const write of chosen) {
      await load.setUp(write);
      const cold = await load.platform(write, 16);
      report({ job: `${write.name}, 16 clients, the first seconds`, ...described(cold) });
      await load.warmUp(write);
      for (const clients of options.clients) {
        const { measured, keyed } = await load.withoutAndWithKey(write, clients);
        const compared = write.reference && (await load.reference(write.reference, clients));
        report({ job: `${write.name}, ${clients} clients`, ...described(measured, compared) });
        report({ job: `${write.name}, ${clients} clients, with a key`, ...described(keyed, measured) });
      }
    }
  } finally {
    await load.close();
    reference.child.kill('SIGKILL');
  }
}

interface Reference extends NamedProcess {
  child: ChildProcess;
  url: string;
}

/** In a database of its own on the same server. */
async function startReference(target: BenchTarget): Promise<Reference> {
  const address = new URL(target.adminUrlOf('timeline'));
  const admin = new pg.Client({ connectionString: address.href });
  await admin.connect();
  await admin.query(`CREATE DATABASE ${REFERENCE_DATABASE}`);
  await admin.end();
  address.pathname = REFERENCE_DATABASE;
  const child = fork(join(root, 'tools', 'verification', 'bench', 'writes-reference.mjs'), [address.href]);
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return { child, name: 'reference', pid: child.pid!, url: `http://127.0.0.1:${port}` };
}

type Once = (client: number, number: number) => Promise<void>;

/** What some seconds of requests took. */
interface Fired {
  milliseconds: number;
  /** Of each request. */
  times: number[];
  usages: readonly ProcessUsage[];
}

interface Measured {
  perSecond: number;
  p50: number;
  p99: number;
  /** Processor time of one request in milliseconds, by process. */
  cpu: { name: string; milliseconds: number }[];
}

async function startLoad(
  { url, processes }: BenchTarget,
  { seconds, tenants }: WritesOptions,
  reference: Reference,
): Promise<{
  setUp: (write: Write) => Promise<void>;
  warmUp: (write: Write) => Promise<void>;
  platform: (write: Write, clients: number) => Promise<Measured>;
  withoutAndWithKey: (write: Write, clients: number) => Promise<{ measured: Measured; keyed: Measured }>;
  reference: (callOf: (number: number) => Call, clients: number) => Promise<Measured>;
  close: () => Promise<void>;
}> {
  const tenantIds = Array.from({ length: tenants }, () => randomUUID());
  const tokenIn = (tenantId: string, sub: string) => tokenOf(url, { sub, tenantId, roles: ['admin'] });
  const writers = await Promise.all(
    Array.from({ length: Math.max(CLIENTS_MAX, tenants) }, (_, writer) =>
      tokenIn(tenantIds[writer % tenants]!, `writer-${writer}`),
    ),
  );
  const others = await Promise.all(tenantIds.map((tenantId) => tokenIn(tenantId, 'another')));
  const pools = {
    platform: new Pool(url, { connections: CLIENTS_MAX, pipelining: 1 }),
    reference: new Pool(reference.url, { connections: CLIENTS_MAX, pipelining: 1 }),
  };
  let number = 0;
  let prepared = 0;
  /** In one tenant each client is a person; else requests change between the tenants. */
  const writerOf = (client: number, count: number) => writers[tenants === 1 ? client : count % tenants]!;

  const send = async (pool: Pool, { method, path, body }: Call, headers: Record<string, string>) => {
    const response = await pool.request({
      method,
      path,
      headers: { 'content-type': 'application/json', ...headers },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const text = await response.body.text();
    if (response.statusCode >= 300) throw new Error(`${method} ${path}: ${response.statusCode} ${text}`);
  };

  const inTurns = async (clients: number, goesOn: () => boolean, once: Once): Promise<number[]> => {
    const times: number[] = [];
    const run = async (client: number) => {
      while (goesOn()) {
        const sentAt = performance.now();
        await once(client, number++);
        times.push(performance.now() - sentAt);
      }
    };
    await Promise.all(Array.from({ length: clients }, (_, client) => run(client)));
    return times;
  };

  const fire = async (
    clients: number,
    watched: readonly NamedProcess[],
    once: Once,
    { forSeconds = seconds, last = Number.POSITIVE_INFINITY } = {},
  ): Promise<Fired> => {
    const usedSince = watchProcesses(watched);
    const startedAt = performance.now();
    const endsAt = startedAt + forSeconds * 1_000;
    const times = await inTurns(clients, () => number < last && performance.now() < endsAt, once);
    const milliseconds = performance.now() - startedAt;
    // What follows from the writes belongs to their cost.
    await new Promise((resolve) => setTimeout(resolve, SETTLING_MILLISECONDS));
    return { milliseconds, times, usages: usedSince() };
  };

  const sendTo = (token: string, call: Call, headers: Record<string, string> = {}) =>
    send(
      pools.platform,
      { ...call, path: `/api/v1${call.path}` },
      { ...headers, authorization: `Bearer ${token}` },
    );

  const onPlatform =
    (write: Write, isKeyed: (number: number) => boolean): Once =>
    (client, count) =>
      sendTo(
        writerOf(client, count),
        write.platform(count),
        isKeyed(count) ? { 'idempotency-key': randomUUID() } : {},
      );

  const firePlatform = async (
    write: Write,
    clients: number,
    { forSeconds = seconds, isKeyed = false } = {},
  ): Promise<Fired> => {
    const last = await prepare(write, forSeconds * PREPARED_PER_SECOND);
    return fire(
      clients,
      processes,
      onPlatform(write, () => isKeyed),
      { forSeconds, last },
    );
  };

  /** Does what comes before the next requests; returns how many there may be. */
  const prepare = async ({ before }: Write, requests: number): Promise<number> => {
    if (!before) return Number.POSITIVE_INFINITY;
    // A slow machine did not come to the end of what was prepared before.
    const first = Math.max(number, prepared);
    number = first;
    await inTurns(
      16,
      () => number < first + requests,
      async (_, count) => {
        for (const call of before(count)) await sendTo(others[count % tenants]!, call);
      },
    );
    number = first;
    prepared = first + requests;
    return prepared;
  };

  return {
    setUp: async ({ setUp }) => {
      if (setUp) for (const token of others) await sendTo(token, setUp);
    },
    warmUp: async (write) => {
      const last = Math.min(number + WARM_UP, await prepare(write, WARM_UP / 4));
      const endsAt = performance.now() + WARM_UP_SECONDS_MAX * 1_000;
      const goesOn = () => number < last && performance.now() < endsAt;
      await inTurns(
        16,
        goesOn,
        onPlatform(write, (count) => count % 2 === 0),
      );
    },
    platform: async (write, clients) => measuredOf([await firePlatform(write, clients)]),
    withoutAndWithKey: async (write, clients) => {
      const fired = { without: [] as Fired[], with: [] as Fired[] };
      for (const isKeyed of [false, true, true, false])
        fired[isKeyed ? 'with' : 'without'].push(
          await firePlatform(write, clients, { forSeconds: seconds / 2, isKeyed }),
        );
      return { measured: measuredOf(fired.without), keyed: measuredOf(fired.with) };
    },
    reference: async (callOf, clients) =>
      measuredOf([
        await fire(clients, [reference, ...processes.filter(({ name }) => name === 'postgres')], (_, count) =>
          send(pools.reference, callOf(count), {}),
        ),
      ]),
    close: async () => {
      await Promise.all([pools.platform.close(), pools.reference.close()]);
    },
  };
}

function measuredOf(fired: readonly Fired[]): Measured {
  const times = fired.flatMap((one) => one.times);
  const milliseconds = fired.reduce((sum, one) => sum + one.milliseconds, 0);
  const names = fired[0]!.usages.map(({ name }) => name);
  const secondsOf = (name: string): number =>
    fired.reduce((sum, { usages }) => sum + usages.find((one) => one.name === name)!.cpuSeconds, 0);
  const cpu = names
    .map((name) => ({ name, milliseconds: (secondsOf(name) * 1_000) / times.length }))
    .sort((left, right) => right.milliseconds - left.milliseconds);
  return { perSecond: (times.length * 1_000) / milliseconds, ...percentiles(times), cpu };
}

function percentiles(times: number[]): { p50: number; p99: number } {
  const sorted = times.toSorted((left, right) => left - right);
  const at = (part: number) => sorted[Math.floor(sorted.length * part)] ?? 0;
  return { p50: at(0.5), p99: at(0.99) };
}

function described(measured: Measured, compared?: Measured): Omit<BenchLine, 'job'> {
  const total = sumOf(measured);
  const parts = measured.cpu
    .filter(({ milliseconds }) => milliseconds >= 0.02)
    .map(({ name, milliseconds }) => `${name} ${milliseconds.toFixed(2)}`);
  return {
    measured: rates(measured),
    ...(compared && { reference: rates(compared), ratio: measured.perSecond / compared.perSecond }),
    details: [
      `${total.toFixed(2)} ms of processor time: ${parts.join(', ')}` +
        (compared
          ? `; beside it ${sumOf(compared).toFixed(2)} (${(total / sumOf(compared)).toFixed(2)})`
          : ''),
    ],
  };
}

const sumOf = ({ cpu }: Measured): number => cpu.reduce((sum, { milliseconds }) => sum + milliseconds, 0);

const rates = ({ perSecond, p50, p99 }: Measured): string =>
  `${perSecond.toFixed(0)} requests/s, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`;

/** What the platform uses while nobody asks it for anything. */
async function measureRest({ processes }: BenchTarget): Promise<BenchLine> {
  await new Promise((resolve) => setTimeout(resolve, STARTED_MILLISECONDS));
  const usedSince = watchProcesses(processes);
  await new Promise((resolve) => setTimeout(resolve, REST_SECONDS * 1_000));
  const usages = usedSince().map(({ name, cpuSeconds }) => ({
    name,
    milliseconds: (cpuSeconds * 1_000) / REST_SECONDS,
  }));
  const total = usages.reduce((sum, { milliseconds }) => sum + milliseconds, 0);
  return {
    job: 'at rest',
    measured: `${total.toFixed(0)} ms of processor time a second`,
    goal: '15 at most',
    details: [
      usages
        .filter(({ milliseconds }) => milliseconds >= 0.5)
        .map(({ name, milliseconds }) => `${name} ${milliseconds.toFixed(0)}`)
        .join(', '),
    ],
  };
}
