import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { BenchLine } from './bench-line.ts';
import { mapFile, signInToTenant } from './exchange-jobs.ts';
import { writeCsv } from './exchange-rows.ts';
import type { BenchTarget } from './platform.ts';
import { inTemporaryFolder } from './temporary-folder.ts';
import { timeOf } from './times.ts';
import { tokenOf } from './token.ts';

const MEASURED = 60;
const GOAL = 2;
/** Long enough that everything an attacker can take is taken. */
const BEFORE_MEASURING_MILLISECONDS = 2_000;
/** An attacker who is refused comes back after this; the rate limits, which are off here, allow no more. */
const AFTER_REFUSAL_MILLISECONDS = 2_000;

/** Something scarce: what one tenant does to take all of it, and what another one needs of it. */
interface Scarce {
  name: string;
  /** How often the attacker tries at the same time. */
  attackers: number;
  /** One attempt; ends early when the signal says so. */
  attack: (signal: AbortSignal) => Promise<unknown>;
  request: () => Promise<unknown>;
  measured?: number;
}

/** For each scarce thing: the p99 of a tenant while another one takes all it can, beside its p99 alone. */
export const benchFairness = (target: BenchTarget): Promise<BenchLine[]> =>
  inTemporaryFolder(async (folder) => {
    const lines: BenchLine[] = [];
    for (const scarce of await scarceThings(target, folder)) lines.push(await measure(scarce));
    return lines;
  });

async function measure({
  name,
  attackers,
  attack,
  request,
  measured = MEASURED,
}: Scarce): Promise<BenchLine> {
  await timesOf(request, measured / 2);
  const alone = p99(await timesOf(request, measured));
  const stop = new AbortController();
  const attacks = Array.from({ length: attackers }, () => repeat(attack, stop.signal));
  await pause(BEFORE_MEASURING_MILLISECONDS);
  const beside = p99(await timesOf(request, measured));
  stop.abort();
  await Promise.all(attacks);
  return {
    job: `${name}, p99 while another tenant takes all it can`,
    measured: `${beside.toFixed(0)} ms`,
    reference: `alone ${alone.toFixed(0)} ms`,
    ratio: beside / alone,
    goal: GOAL,
  };
}

async function repeat(attack: (signal: AbortSignal) => Promise<unknown>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await attack(signal).catch(() => pause(AFTER_REFUSAL_MILLISECONDS));
  }
}

async function timesOf(request: () => Promise<unknown>, count: number): Promise<number[]> {
  const times: number[] = [];
  while (times.length < count) times.push(await timeOf(request));
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

/** A user with all permissions of a new tenant. What is not a success is thrown. */
async function newTenant({ url }: BenchTarget): Promise<Send> {
  const authorization = `Bearer ${await tokenOf(url, { tenantId: randomUUID(), roles: ['admin'] })}`;
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

async function scarceThings(target: BenchTarget, folder: string): Promise<Scarce[]> {
  const [attacker, victim] = [await newTenant(target), await newTenant(target)];
  const save = (send: Send, name: string, content: string) =>
    send('PUT', `/templates/${name}`, { body: { name, content } });
  await save(attacker, 'page', LONG_PAGE);
  await save(attacker, 'sheet', LARGE_SHEET);
  await save(victim, 'page', LONG_PAGE.replace('400', '40'));
  await save(victim, 'sheet', SHEET);
  const preview = (send: Send, name: string, body: object, signal?: AbortSignal) =>
    received(send('POST', `/templates/${name}/preview`, { body, ...(signal ? { signal } : {}) }));

  const stream = async (send: Send, signal?: AbortSignal): Promise<void> => {
    const closing = new AbortController();
    const signals = signal ? [signal, closing.signal] : [closing.signal];
    const response = await send('GET', '/notifications/stream', {
      headers: { accept: 'text/event-stream' },
      signal: AbortSignal.any(signals),
    });
    if (signal) await response.arrayBuffer();
    else closing.abort();
  };

  const upload = (send: Send, bytes: number, signal?: AbortSignal) => {
    const form = new FormData();
    form.append('file', new Blob(['x'.repeat(bytes)]), 'a.txt');
    return received(send('POST', '/blobs', { body: form, ...(signal ? { signal } : {}) }));
  };

  const [large, small] = [`${folder}/large.csv`, `${folder}/small.csv`];
  await writeCsv(large, LARGE_ROWS);
  await writeCsv(small, SMALL_ROWS);
  const [rich, poor] = [await signInToTenant(target), await signInToTenant(target)];
  const [largeJob, smallJob] = [await mapFile(rich, large), await mapFile(poor, small)];

  const write = (send: Send, filler: number) =>
    received(
      send('PUT', '/settings/user/Service.Timing.PreferredTimezone', {
        body: { value: 'Europe/Paris', filler: 'x'.repeat(filler) },
        headers: { 'idempotency-key': randomUUID() },
      }),
    );

  return [
    {
      name: 'evaluation of a template',
      attackers: 50,
      attack: (signal) => preview(attacker, 'page', {}, signal),
      request: () => preview(victim, 'page', {}),
    },
    {
      name: 'PDF of one page',
      attackers: 50,
      attack: (signal) => preview(attacker, 'sheet', { format: PDF }, signal),
      request: () => preview(victim, 'sheet', { format: PDF }),
    },
    {
      name: 'opening of an event stream',
      attackers: 500,
      attack: (signal) => stream(attacker, signal),
      request: () => stream(victim),
    },
    {
      name: 'upload of 1 kB',
      attackers: 20,
      attack: (signal) => upload(attacker, 5_000_000, signal),
      request: () => upload(victim, 1_000),
    },
    {
      name: 'request with an idempotency key',
      attackers: 30,
      attack: () => write(attacker, 900_000),
      request: () => write(victim, 0),
    },
    {
      name: `dry-run of ${SMALL_ROWS} rows`,
      attackers: 12,
      attack: () => rich.call('POST', `/imports/${largeJob}/dry-run`, { body: {} }),
      request: () => poor.call('POST', `/imports/${smallJob}/dry-run`, { body: {} }),
      measured: 20,
    },
  ];
}
