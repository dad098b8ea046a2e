import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import type { BenchLine } from './bench-line.ts';
import type { BenchTarget } from './platform.ts';
import type { NamedProcess } from './processes.ts';
import { tokenOf } from './token.ts';

const TENANTS = 10_000;
const CLIENTS = 16;
const MEASURED = ['gateway', 'localization', 'settings', 'timeline'];
const GOAL = 1.3;
/** Where a process listens after SIGUSR1. */
const INSPECTOR = 'http://127.0.0.1:9229/json/list';

interface Memory {
  resident: number;
  /** What is still used after everything else was collected. */
  used: number;
}

/**
 * What many tenants leave in the memory of processes that each of them called once: in all, and after a collection,
 * which tells caches and leaks from garbage. Run it with the heaps of k8s/: `NODE_OPTIONS="--max-old-space-size=256 --max-semi-space-size=16"`.
 */
export async function benchMemory({ url, processes }: BenchTarget): Promise<BenchLine[]> {
  const watched = processes.filter(({ name }) => MEASURED.includes(name));
  const pool = new Pool(url, { connections: CLIENTS });
  const send = async (token: string, method: 'GET' | 'POST', path: string, body?: object) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const response = await pool.request({
      method,
      path: `/api/v1${path}`,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
    });
    await response.body.dump();
    if (response.statusCode >= 300) throw new Error(`${method} ${path}: ${response.statusCode}`);
  };
  const touch = async (token: string, number: number) => {
    await send(token, 'GET', '/localization?cultureName=de');
    await send(token, 'GET', '/settings/user');
    await send(token, 'POST', `/timeline/Bench/${number}/entries`, { entryType: 0, body: 'entry' });
  };
  const signIn = (tenantId: string) => tokenOf(url, { sub: 'writer', tenantId, roles: ['admin'] });

  const first = await signIn(randomUUID());
  // As many requests as follow, so that the difference is what tenants need, not what V8 leaves uncollected for longer.
  await sideBySide(TENANTS, (number) => touch(first, number));
  const residentBefore = residentOf(watched);
  const before = await memoryOf(watched);
  await sideBySide(TENANTS, async (number) => touch(await signIn(randomUUID()), number));
  const residentAfter = residentOf(watched);
  const after = await memoryOf(watched);
  await pool.close();
  return watched.map(({ name }) => ({
    job: `${name}, ${TENANTS} tenants that called once`,
    measured: `${residentAfter.get(name)} MB resident`,
    reference: `${residentBefore.get(name)} MB before`,
    ratio: residentAfter.get(name)! / residentBefore.get(name)!,
    goal: String(GOAL),
    details: [
      `after a collection ${after.get(name)!.resident} MB, before ${before.get(name)!.resident} MB; ` +
        `used ${after.get(name)!.used} and ${before.get(name)!.used} MB: ` +
        `${(((after.get(name)!.used - before.get(name)!.used) * 1_024) / TENANTS).toFixed(2)} kB a tenant`,
    ],
  }));
}

async function sideBySide(count: number, work: (number: number) => Promise<void>): Promise<void> {
  let next = 0;
  const run = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: CLIENTS }, run));
}

const residentMegabytes = (pid: number): number =>
  Math.round(Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1_024);

const residentOf = (processes: readonly NamedProcess[]) =>
  new Map(processes.map(({ name, pid }) => [name, residentMegabytes(pid)]));

async function memoryOf(processes: readonly NamedProcess[]): Promise<Map<string, Memory>> {
  const memory = new Map<string, Memory>();
  // One after the other, since all of them would listen at one place.
  for (const { name, pid } of processes) {
    const used = await usedAfterCollection(pid);
    memory.set(name, { resident: residentMegabytes(pid), used });
  }
  return memory;
}

async function usedAfterCollection(pid: number): Promise<number> {
  process.kill(pid, 'SIGUSR1');
  const socket = new WebSocket(await inspectorOf(pid));
  await new Promise((resolve) => socket.addEventListener('open', resolve, { once: true }));
  const ask = async (method: string, params = {}): Promise<Record<string, number>> => {
    const answer = new Promise<{ data: string }>((resolve) =>
      socket.addEventListener('message', resolve as never, { once: true }),
    );
    socket.send(JSON.stringify({ id: 1, method, params }));
    return JSON.parse((await answer).data).result;
  };
  await ask('HeapProfiler.collectGarbage');
  const { usedSize } = await ask('Runtime.getHeapUsage');
  // Closes the connection before it could answer.
  const expression = `process.getBuiltinModule('node:inspector').close()`;
  socket.send(JSON.stringify({ id: 1, method: 'Runtime.evaluate', params: { expression } }));
  await new Promise((resolve) => socket.addEventListener('close', resolve, { once: true }));
  return Math.round(usedSize! / 1_024 / 1_024);
}

async function inspectorOf(pid: number): Promise<string> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const [found] = await fetch(INSPECTOR).then(
      (response) => response.json() as Promise<{ webSocketDebuggerUrl: string }[]>,
      () => [],
    );
    if (found) return found.webSocketDebuggerUrl;
    await pause(50);
  }
  throw new Error(`Process ${pid} opened no inspector.`);
}
