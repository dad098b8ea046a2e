import { randomUUID } from 'node:crypto';
import type { BenchLine } from './bench-line.ts';
import type { BenchTarget } from './platform.ts';

const WARM_UP = 200;
const MEASURED = 1_000;

/** The texts of a user interface at its start: unchanged, whole, and after a change. */
export async function benchLocalization({ url }: Pick<BenchTarget, 'url'>): Promise<BenchLine[]> {
  const address = `${url}/localization?cultureName=fr`;
  const etag = (await fetch(address)).headers.get('etag') ?? '';
  const unchanged = () => statusOf(address, { 'if-none-match': etag });
  const whole = () => statusOf(address);
  // The shortest way through gateway and service: the service refuses as soon as it reads the address.
  const floor = () => statusOf(`${url}/localization?cultureName=not_a_culture`);

  await expectStatuses([unchanged, 304], [whole, 200], [floor, 400]);
  const times = await timesInTurns({ unchanged, whole, floor });
  const reference = `gateway's floor ${times.floor.toFixed(2)} ms`;
  return [
    {
      job: 'localization bootstrap, 304',
      measured: `${times.unchanged.toFixed(2)} ms`,
      reference,
      ratio: times.unchanged / times.floor,
      goal: 1.2,
    },
    {
      job: 'localization bootstrap, 200',
      measured: `${times.whole.toFixed(2)} ms`,
      reference,
      ratio: times.whole / times.floor,
    },
    await writeToRead(url),
  ];
}

/** How long after a write the next reading of the same text takes; it reads the tenant's texts anew. */
async function writeToRead(url: string): Promise<BenchLine> {
  const tenantId = randomUUID();
  const issued = await fetch(`${url}/dev/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ sub: 'bench', name: 'Bench', tenantId, roles: ['admin'] }),
  });
  const { accessToken } = (await issued.json()) as { accessToken: string };
  const headers = { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' };
  const write = (count: number) =>
    statusOf(`${url}/localization/overrides/Bench/fr/title`, headers, `{"value":"${count}"}`);
  const read = () => statusOf(`${url}/localization?cultureName=fr`, headers);
  const afterWrite: number[] = [];
  const repeated: number[] = [];
  for (let count = 0; count < WARM_UP; count++) {
    await write(count);
    afterWrite.push(await timeOf(read));
    repeated.push(await timeOf(read));
  }
  return {
    job: 'localization bootstrap, first reading after a write',
    measured: `${median(afterWrite).toFixed(2)} ms`,
    reference: `the next reading ${median(repeated).toFixed(2)} ms`,
    ratio: median(afterWrite) / median(repeated),
  };
}

async function statusOf(url: string, headers: Record<string, string> = {}, body?: string): Promise<number> {
  const response = await fetch(url, body === undefined ? { headers } : { method: 'PUT', headers, body });
  await response.arrayBuffer();
  return response.status;
}

async function expectStatuses(...calls: [() => Promise<number>, number][]): Promise<void> {
  for (const [call, expected] of calls) {
    const status = await call();
    if (status !== expected)
      throw new Error(`Expected ${expected}, got ${status}; start with high RATE_LIMITS.`);
  }
}

/** Median times, measured in turns, so that all meet the same machine. */
async function timesInTurns<Name extends string>(
  calls: Record<Name, () => Promise<number>>,
): Promise<Record<Name, number>> {
  const names = Object.keys(calls) as Name[];
  const times = new Map<Name, number[]>(names.map((name) => [name, []]));
  for (let count = 0; count < WARM_UP + MEASURED; count++) {
    for (const name of names) {
      const time = await timeOf(calls[name]);
      if (count >= WARM_UP) times.get(name)!.push(time);
    }
  }
  return Object.fromEntries(names.map((name) => [name, median(times.get(name)!)])) as Record<Name, number>;
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

const median = (values: readonly number[]): number =>
  values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)]!;
