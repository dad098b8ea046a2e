import { readFileSync } from 'node:fs';
import type { BenchTarget } from './platform.ts';
import { watchProcesses } from './processes.ts';

const SHOWN = 4;
const LEAST_CPU_SECONDS = 0.1;

/**
 * Watches what a platform waits for: the time of its busiest processes on a processor and in the queue for one, and how
 * late their event loops were. The returned function describes it.
 */
export async function watchWaiting(
  { processes }: BenchTarget,
  name: string,
): Promise<() => Promise<string[]>> {
  // A look at the lag begins the next one.
  await Promise.all(processes.map(eventLoopLagOf));
  const usageSince = watchProcesses(processes);
  return async () => {
    const busiest = usageSince()
      .filter(({ cpuSeconds }) => cpuSeconds >= LEAST_CPU_SECONDS)
      .slice(0, SHOWN);
    return Promise.all(
      busiest.map(async (usage) => {
        const process = processes.find((one) => one.name === usage.name)!;
        return (
          `${name} ${usage.name}: ${usage.cpuSeconds.toFixed(1)} s on a processor, ` +
          `${usage.queuedSeconds.toFixed(1)} s without one${await eventLoopLagOf(process)}`
        );
      }),
    );
  };
}

/**
 * How late the event loop of a process was since the last look; empty where it has none. It is sampled twice a second, and
 * less often while it rests.
 */
async function eventLoopLagOf({ metricsUrl }: BenchTarget['processes'][number]): Promise<string> {
  if (metricsUrl === undefined) return '';
  const metrics = await (await fetch(metricsUrl)).text();
  const lag = (which: string): string => {
    const seconds = new RegExp(`^nodejs_eventloop_lag_${which}_seconds\\{.*\\} (.*)$`, 'm').exec(
      metrics,
    )?.[1];
    return (Number(seconds) * 1_000).toFixed(0);
  };
  return `, event loop late by ${lag('mean')} ms, ${lag('max')} ms at most`;
}

/**
 * Watches how busy the machine is; the returned function returns in which part of the time something waited for a
 * processor, undefined where the system does not say it.
 */
export function watchPressure(): () => number | undefined {
  const startedAt = performance.now();
  const before = stalledMilliseconds();
  return () => {
    const now = stalledMilliseconds();
    if (before === undefined || now === undefined) return undefined;
    return (now - before) / (performance.now() - startedAt);
  };
}

function stalledMilliseconds(): number | undefined {
  try {
    const microseconds = /^some .*total=(\d+)$/m.exec(readFileSync('/proc/pressure/cpu', 'utf8'))?.[1];
    return microseconds === undefined ? undefined : Number(microseconds) / 1_000;
  } catch {
    return undefined;
  }
}
