import { setTimeout as pause } from 'node:timers/promises';
import type { BenchLine } from './bench-line.ts';
import { startBenchPlatform, type BenchTarget } from './platform.ts';
import { scarceThings, startAttacker, type Scarce } from './scarce-things.ts';
import { median, p99 } from './times.ts';
import { watchPressure, watchWaiting } from './waiting.ts';

const MEASURED = 200;
const GOAL = 2;
/** Long enough that everything an attacker can take is taken. */
const BEFORE_MEASURING_MILLISECONDS = 2_000;
/** In which the platform ends what it was doing for the attacker. */
const SETTLING_MILLISECONDS = 3_000;

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
 *
 * Whether that is fair, each line shows: for how long the busiest processes of both platforms ran, and for how long they
 * waited for a processor. Where the two are in the same proportion on both, the machine slows both down alike, however much
 * else it does. Where they are not, as in a service whose other processes and threads work for the attacker, that is a part
 * of the ratio: the attacked one shares what the system gives to all of it.
 */
export async function benchFairness(target: BenchTarget, { only, report }: FairnessOptions): Promise<void> {
  const control = await startBenchPlatform('bench-control');
  try {
    for (const scarce of scarceThings) {
      if (only.length > 0 && !only.some((text) => scarce.name.includes(text))) continue;
      const request = await scarce.prepareRequest(target);
      const calls = { request, control: await scarce.prepareRequest(control) };
      report(await measure(scarce, calls, { request: target, control }));
    }
  } finally {
    await control.stop();
  }
}

async function measure(
  { name, measured = MEASURED }: Scarce,
  calls: Record<keyof Times, () => Promise<unknown>>,
  targets: Record<keyof Times, BenchTarget>,
): Promise<BenchLine> {
  await timesOf(calls, measured / 2);
  const pressureSince = watchPressure();
  const alone = await timesOf(calls, measured);
  const pressure = pressureSince();
  const stop = await startAttacker(targets.request, name);
  await pause(BEFORE_MEASURING_MILLISECONDS);
  const watched = [
    await watchWaiting(targets.request, 'attacked'),
    await watchWaiting(targets.control, 'control'),
  ];
  const beside = await timesOf(calls, measured).finally(stop);
  const waiting = await Promise.all(watched.map((describe) => describe()));
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
      ...(pressure === undefined
        ? []
        : [`alone, something waited for a processor in ${(100 * pressure).toFixed(0)} % of the time`]),
      ...waiting.flat(),
    ],
  };
}

type Times = Record<'request' | 'control', number[]>;

/** Alternately, so that what else the machine does affects both. */
async function timesOf(calls: Record<keyof Times, () => Promise<unknown>>, count: number): Promise<Times> {
  const times: Times = { request: [], control: [] };
  while (times.control.length < count)
    for (const name of ['request', 'control'] as const) times[name].push(await timeOf(calls[name]));
  return times;
}

/** Jobs are polled too seldom to be timed from here, and say how long they took. */
async function timeOf(call: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  const said = await call();
  return typeof said === 'number' ? said : performance.now() - startedAt;
}
