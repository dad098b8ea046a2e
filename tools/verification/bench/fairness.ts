import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { BenchLine } from './bench-line.ts';
import { mapFile, signInToTenant } from './exchange-jobs.ts';
import { writeCsv } from './exchange-rows.ts';
import { startBenchPlatform, type BenchTarget } from './platform.ts';
import { inTemporaryFolder } from './temporary-folder.ts';
import { median, timeOf } from './times.ts';
import { tokenOf } from './token.ts';

const MEASURED = 100;
const GOAL = 2;
/** Long enough that everything an attacker can take is taken. */
const BEFORE_MEASURING_MILLISECONDS = 2_000;
/** An attacker who is refused comes back after this; the rate limits, which are off here, allow no more. */
const AFTER_REFUSAL_MILLISECONDS = 2_000;
const BETWEEN_LOOKS_MILLISECONDS = 10;
/** In which the platform ends what it was doing for the attacker. */
const SETTLING_MILLISECONDS = 3_000;

/** Something scarce: what one tenant does to take all of it, and what another one needs of it. */
interface Scarce {
  name: string;
  /** How often the attacker tries at the same time. */
  attackers: number;
  attack: () => Promise<unknown>;
  request: () => Promise<unknown>;
  measured?: number;
}

type Target = Pick<BenchTarget, 'url'>;

interface FairnessOptions {
  /** Measures what has one of these texts in its name. */
  only: readonly string[];
  report: (line: BenchLine) => void;
}

/**
 * For each scarce thing: the p99 of a tenant while another one takes all it can, beside its p99 alone. An attacker also
 * fills the machine, which no share of ours can prevent where attacker and platform run on the same one. So a control
 * makes the same requests at the same time to a second platform, which has only the machine in common with the attacked
 * one: what both wait for is the machine, and what the control does not wait for is ours.
 */
export async function benchFairness(target: Target, { only, report }: FairnessOptions): Promise<void> {
  const control = await startBenchPlatform('bench-control');
  try {
    await inTemporaryFolder(async (folder) => {
      const ofControl = await scarceThings(control, folder);
      for (const scarce of await scarceThings(target, folder)) {
        if (only.length > 0 && !only.some((text) => scarce.name.includes(text))) continue;
        const { request } = ofControl.find(({ name }) => name === scarce.name)!;
        report(await measure(scarce, request, target));
      }
    });
  } finally {
    await control.stop();
  }
}

async function measure(
  { name, request, measured = MEASURED }: Scarce,
  control: () => Promise<unknown>,
  target: Target,
): Promise<BenchLine> {
  await timesOf({ request, control }, measured / 2);
  const alone = await timesOf({ request, control }, measured);
  const stop = await startAttacker(target, name);
  const beside = await timesOf({ request, control }, measured).finally(stop);
  await pause(SETTLING_MILLISECONDS);
  const row = (what: string, times: Times): string =>
    `${what}: p50 ${median(times.request).toFixed(0)} ms, p99 ${p99(times.request).toFixed(0)} ms; ` +
    `control: p50 ${median(times.control).toFixed(0)} ms, p99 ${p99(times.control).toFixed(0)} ms`;
  return {
    job: `${name}, p99 while another tenant takes all it can`,
    measured: `${p99(beside.request).toFixed(0)} ms`,
    reference: `control ${p99(beside.control).toFixed(0)} ms`,
    ratio: p99(beside.request) / p99(beside.control),
    goal: GOAL,
    details: [
      row('alone', alone),
      row('beside', beside),
      `beside / alone: p50 ${(median(beside.request) / median(alone.request)).toFixed(1)}, ` +
        `p99 ${(p99(beside.request) / p99(alone.request)).toFixed(1)}; ` +
        `control: p50 ${(median(beside.control) / median(alone.control)).toFixed(1)}, ` +
        `p99 ${(p99(beside.control) / p99(alone.control)).toFixed(1)}`,
    ],
  };
}

/** The attacker is a process of its own: what it does to itself is nobody's waiting. */
async function startAttacker({ url }: Target, name: string): Promise<() => void> {
  const attacker = fork(join(import.meta.dirname, 'fairness-attacker.ts'), [url, name]);
  const ended = once(attacker, 'exit').then(() => {
    throw new Error(`The attacker of ${name} ended.`);
  });
  await Promise.race([once(attacker, 'message'), ended]);
  ended.catch(() => undefined);
  await pause(BEFORE_MEASURING_MILLISECONDS);
  return () => void attacker.kill('SIGKILL');
}

/** Attacks one scarce thing until the process is killed; calls back when it begins. */
export const attackScarce = (target: Target, name: string, onBegin: () => void): Promise<unknown> =>
  inTemporaryFolder(async (folder) => {
    const { attack, attackers } = (await scarceThings(target, folder)).find((one) => one.name === name)!;
    onBegin();
    const repeat = async (): Promise<never> => {
      for (;;) await attack().catch(() => pause(AFTER_REFUSAL_MILLISECONDS));
    };
    await Promise.all(Array.from({ length: attackers }, repeat));
  });

type Times = Record<'request' | 'control', number[]>;

/** Alternately, so that what else the machine does affects both. */
async function timesOf(calls: Record<keyof Times, () => Promise<unknown>>, count: number): Promise<Times> {
  const times: Times = { request: [], control: [] };
  while (times.control.length < count)
    for (const name of ['request', 'control'] as const) times[name].push(await timeOf(calls[name]));
  return times;
}

const p99 = (times: readonly number[]): number =>
  times.toSorted((left, right) => left - right)[Math.floor(times.length * 0.99)]!;

type Send = (method: string, path: string, options?: SendOptions) => Promise<Response>;

interface SendOptions {
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** A user with all permissions, of a new tenant unless one is given. What is not a success is thrown. */
async function newUser({ url }: Target, tenantId: string = randomUUID(), sub = 'bench'): Promise<Send> {
  const authorization = `Bearer ${await tokenOf(url, { sub, tenantId, roles: ['admin'] })}`;
  return async (method, path, { body, headers = {}, signal } = {}) => {
    const isForm = body instanceof FormData;
    const response = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: {
        authorization,
        ...(body && !isForm ? { 'content-type': 'application/json' } : {}),
        ...headers,
      },
      ...(body ? { body: isForm ? body : JSON.stringify(body) } : {}),
      ...(signal ? { signal } : {}),
    });
    if (!response.ok) {
      await response.arrayBuffer();
      throw new Error(`${method} ${path} responds ${response.status}.`);
    }
    return response;
  };
}

const received = async (response: Promise<Response>): Promise<void> =>
  void (await (await response).arrayBuffer());

const LONG_PAGE = `{% for i in range(400) %}{% for j in range(300) %}{{ i * j }} {% endfor %}{% endfor %}`;
const SHEET = `<h1>One page</h1>${'<p>Some words that fill a line of the page, and some more.</p>'.repeat(25)}`;
const LARGE_SHEET = SHEET.repeat(40);
const LARGE_ROWS = 50_000;
const SMALL_ROWS = 100;
const PDF = 1;

async function scarceThings(target: Target, folder: string): Promise<Scarce[]> {
  const tenantId = randomUUID();
  const [attacker, victim] = [await newUser(target), await newUser(target, tenantId)];
  const save = (send: Send, name: string, content: string) =>
    send('PUT', `/templates/${name}`, { body: { name, content } });
  await save(attacker, 'page', LONG_PAGE);
  await save(attacker, 'sheet', LARGE_SHEET);
  await save(victim, 'page', LONG_PAGE.replace('400', '40'));
  await save(victim, 'sheet', SHEET);
  const preview = (send: Send, name: string, body: object) =>
    received(send('POST', `/templates/${name}/preview`, { body }));

  const stream = async (send: Send, { isHeld }: { isHeld: boolean }): Promise<void> => {
    const closing = new AbortController();
    const response = await send('GET', '/notifications/stream', {
      headers: { accept: 'text/event-stream' },
      signal: closing.signal,
    });
    if (isHeld) await response.arrayBuffer();
    else closing.abort();
  };

  const upload = (send: Send, content: Blob) => {
    const form = new FormData();
    form.append('file', content, 'a.txt');
    return received(send('POST', '/blobs', { body: form }));
  };
  const [largeFile, smallFile] = [5_000_000, 1_000].map((bytes) => new Blob(['x'.repeat(bytes)]));

  const [large, small] = [`${folder}/large.csv`, `${folder}/small.csv`];
  await writeCsv(large, LARGE_ROWS);
  await writeCsv(small, SMALL_ROWS);
  const [rich, poor] = [await signInToTenant(target), await signInToTenant(target)];
  const [largeJob, smallJob] = [await mapFile(rich, large), await mapFile(poor, small)];

  const setZone = (send: Send, filler: number) =>
    received(
      send('PUT', '/settings/user/Service.Timing.PreferredTimezone', {
        body: { value: 'Europe/Paris', filler: 'x'.repeat(filler) },
        headers: { 'idempotency-key': randomUUID() },
      }),
    );

  const note = (send: Send) =>
    received(
      send('POST', `/timeline/Bench/${randomUUID()}/entries`, { body: { entryType: 0, body: 'a note' } }),
    );

  const follower = await newUser(target, tenantId, 'follower');
  await follower('POST', '/timeline/Bench/followed/follow');
  const fiftyMentions = Array.from({ length: 50 }, (_, index) => `@[someone](user:${index})`).join(' ');
  const write = (send: Send, entityId: string, body: string) =>
    send('POST', `/timeline/Bench/${entityId}/entries`, { body: { entryType: 0, body } });
  const untilNotified = async (): Promise<void> => {
    const { id } = (await (await write(victim, 'followed', 'a note')).json()) as { id: string };
    for (;;) {
      const page = await follower('GET', '/notifications?pageSize=5');
      if ((await page.text()).includes(id)) return;
      await pause(BETWEEN_LOOKS_MILLISECONDS);
    }
  };

  return [
    {
      name: 'notification of an entry',
      attackers: 16,
      attack: () => received(write(attacker, 'mentioning', fiftyMentions)),
      request: untilNotified,
      measured: 40,
    },
    {
      name: 'entry of a timeline',
      attackers: 100,
      attack: () => note(attacker),
      request: () => note(victim),
    },
    {
      name: 'evaluation of a template',
      attackers: 50,
      attack: () => preview(attacker, 'page', {}),
      request: () => preview(victim, 'page', {}),
    },
    {
      name: 'PDF of one page',
      attackers: 50,
      attack: () => preview(attacker, 'sheet', { format: PDF }),
      request: () => preview(victim, 'sheet', { format: PDF }),
    },
    {
      name: 'opening of an event stream',
      attackers: 500,
      attack: () => stream(attacker, { isHeld: true }),
      request: () => stream(victim, { isHeld: false }),
    },
    {
      name: 'upload of 1 kB',
      attackers: 20,
      attack: () => upload(attacker, largeFile!),
      request: () => upload(victim, smallFile!),
    },
    {
      name: 'request with an idempotency key',
      attackers: 30,
      attack: () => setZone(attacker, 900_000),
      request: () => setZone(victim, 0),
    },
    {
      name: `dry-run of ${SMALL_ROWS} rows`,
      attackers: 12,
      attack: () => rich.call('POST', `/imports/${largeJob}/dry-run`, { body: {} }),
      request: () => poor.call('POST', `/imports/${smallJob}/dry-run`, { body: {} }),
      measured: 40,
    },
  ];
}
