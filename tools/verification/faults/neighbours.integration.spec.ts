import { setTimeout as pause } from 'node:timers/promises';
import type { SharedPlatform } from '@plinth/testing/shared-platform';
import { scarceThings, startAttacker, type Scarce } from '../bench/scarce-things.ts';
import { median, p99, timeOf } from '../bench/times.ts';
import { limitedPlatform, pods } from './limited-platform';
import { watchPodMemory } from './pod-memory.ts';

const SECONDS = Number(process.env['FAULTS_SECONDS'] ?? 1);
const isLarge = process.env['FAULTS_SECONDS'] !== undefined;
const ONLY = process.env['FAULTS_ONLY'] ?? 'all';
/** In which an attacker begins to take what it can. */
const BEFORE_MEASURING_MILLISECONDS = isLarge ? 2_000 : 200;
/** Who looks at a dozen processes more often has no time for requests. */
const LOOK_MILLISECONDS = 1_000;
/**
 * Who waits longer has given up. How much longer than alone is for `npm run bench -- fairness`, beside a control. The suite
 * may run on a machine that does much else, where the gateway gives up.
 */
const MILLISECONDS_MAX = isLarge ? 30_000 : Infinity;
jest.setTimeout(600_000 + SECONDS * 10_000);

/** The suite takes those that need little to begin with. */
const attacked = scarceThings.filter(({ name }) =>
  isLarge ? ONLY === 'all' || name.includes(ONLY) : name === 'request with an idempotency key',
);

let platform: SharedPlatform;
beforeAll(async () => {
  platform = await limitedPlatform();
});

/** Repeats a request for so many seconds, and at least a few times. @throws what a request throws */
async function timesOf(request: () => Promise<unknown>, seconds: number): Promise<number[]> {
  const times: number[] = [];
  const end = performance.now() + seconds * 1_000;
  while (times.length < 3 || performance.now() < end) times.push(await timeOf(request));
  return times;
}

const watchMemory = () =>
  Object.entries(platform.processIds())
    .filter(([name]) => pods === undefined || pods.has(name))
    .map(([name, pid]) => ({
      name,
      most: watchPodMemory(pid!, LOOK_MILLISECONDS),
      pod: pods?.get(name)?.mebibytesMax,
    }));

function report(
  name: string,
  alone: number[],
  beside: number[],
  used: { name: string; mebibytes: number }[],
) {
  const row = (times: number[]): string =>
    `p50 ${median(times).toFixed(0)} ms, p99 ${p99(times).toFixed(0)} ms`;
  const memory = used.map((one) => `${one.name} ${one.mebibytes}`).join(', ');
  process.stdout.write(`${name}\n  alone ${row(alone)}; beside ${row(beside)}\n  MiB: ${memory}\n`);
}

describe('a tenant beside one that takes all it can', () => {
  it.each<Scarce>([...attacked])(
    'gets each $name, from processes in the memory of their pods',
    async (scarce) => {
      const request = await scarce.prepareRequest(platform);
      const processes = platform.processIds();
      await timesOf(request, 0);
      const alone = await timesOf(request, SECONDS);
      const watched = watchMemory();
      const stop = await startAttacker(platform, scarce.name);
      await pause(BEFORE_MEASURING_MILLISECONDS);
      const beside = await timesOf(request, SECONDS).finally(stop);
      const used = watched.map(({ name, most, pod }) => ({ name, mebibytes: most(), pod }));
      if (isLarge) report(scarce.name, alone, beside, used);
      expect(Math.max(...beside)).toBeLessThan(MILLISECONDS_MAX);
      expect(used.filter(({ mebibytes, pod }) => mebibytes > (pod ?? Infinity))).toEqual([]);
      expect(platform.processIds()).toEqual(processes);
    },
  );
});
