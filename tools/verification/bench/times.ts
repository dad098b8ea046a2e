const WARM_UP = 200;
const MEASURED = 1_000;

/** Median times in milliseconds, measured alternately, so that load on the machine affects all of them. */
export async function interleavedTimes<Name extends string>(
  calls: Record<Name, () => Promise<unknown>>,
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

export async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

export const median = (values: readonly number[]): number =>
  values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)]!;

/** The smallest value that 99 % of all do not exceed: of fewer than a hundred the largest one. */
export const p99 = (values: readonly number[]): number =>
  values.toSorted((left, right) => left - right)[Math.ceil(values.length * 0.99) - 1]!;

export const seconds = (milliseconds: number): string => `${(milliseconds / 1_000).toFixed(1)} s`;

/** Sends a request and reads its response to the end. */
export async function statusOf(
  url: string,
  headers: Record<string, string> = {},
  body?: string,
): Promise<number> {
  const response = await fetch(url, body === undefined ? { headers } : { method: 'PUT', headers, body });
  await response.arrayBuffer();
  return response.status;
}

/** Fails where a call that is to be measured has another status than expected. */
export async function expectStatuses(...calls: [() => Promise<number>, number][]): Promise<void> {
  for (const [call, expected] of calls) {
    const status = await call();
    if (status !== expected)
      throw new Error(`Expected ${expected}, got ${status}; start with high RATE_LIMITS.`);
  }
}
