import { readFileSync } from 'node:fs';

/** For how long a thread ran, and for how long it was ready to run and had no processor; both in the same unit. */
export interface ProcessorTimes {
  ran: number;
  waited: number;
}

const LOOK_MILLISECONDS = 250;
const SLOWNESS_MAX = 10;

/**
 * Watches how many times as long as alone the work of this process takes because others have the processors: from 1, which
 * it also is where the system does not say it, to 10. A limit of time that is to find what waits for something else than a
 * processor has to be so many times as long.
 * @returns the latest figure, which is found four times a second at most
 */
export function watchProcessorSlowness(
  read: () => ProcessorTimes = timesOfMainThread,
  now = (): number => performance.now(),
): () => number {
  let slowness = 1;
  let lookedAt = now();
  let before = read();
  return () => {
    if (now() - lookedAt < LOOK_MILLISECONDS) return slowness;
    const times = read();
    const [ran, waited] = [times.ran - before.ran, times.waited - before.waited];
    slowness = ran > 0 ? Math.min(1 + waited / ran, SLOWNESS_MAX) : 1;
    lookedAt = now();
    before = times;
    return slowness;
  };
}

/**
 * Of the main thread of this process, in nanoseconds; zeros where the system does not say it.
 * https://docs.kernel.org/scheduler/sched-stats.html, `/proc/<pid>/schedstat`
 */
export function timesOfMainThread(): ProcessorTimes {
  try {
    const [ran = 0, waited = 0] = readFileSync('/proc/self/schedstat', 'latin1').split(' ').map(Number);
    return { ran, waited };
  } catch {
    return { ran: 0, waited: 0 };
  }
}
