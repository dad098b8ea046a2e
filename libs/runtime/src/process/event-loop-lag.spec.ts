import type { EventLoopUtilization } from 'node:perf_hooks';
import { EventLoopLag } from './event-loop-lag';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

/** The lag of a process, and how often it is looked at in some seconds in which its event loop is active for a part. */
function aProcess() {
  let [active, total] = [0, 0];
  const measure = (since?: EventLoopUtilization): EventLoopUtilization => {
    const passed = { active: active - (since?.active ?? 0), idle: total - active - (since?.idle ?? 0) };
    return { ...passed, utilization: passed.active / (passed.active + passed.idle || 1) };
  };
  const lag = new EventLoopLag(measure);
  const looksIn = (seconds: number, utilization: number): number => {
    lag.take();
    for (let milliseconds = 0; milliseconds < seconds * 1_000; milliseconds += 500) {
      active += 500 * utilization;
      total += 500;
      jest.advanceTimersByTime(500);
    }
    return lag.take().looks;
  };
  return { lag, looksIn };
}

describe('the lag of an event loop', () => {
  it('is looked at twice a second while the process does something', () => {
    expect(aProcess().looksIn(120, 0.3)).toBe(240);
  });

  it('hardly wakes a process that rests', () => {
    const { looksIn } = aProcess();
    looksIn(60, 0.001);

    expect(looksIn(60, 0.001)).toBeLessThanOrEqual(6);
  });

  it('hardly wakes one that only looks for work now and then', () => {
    const { looksIn } = aProcess();
    for (let polls = 0; polls < 12; polls++) {
      looksIn(0.5, 0.05);
      looksIn(4.5, 0);
    }

    expect(looksIn(60, 0)).toBeLessThanOrEqual(6);
  });

  it('is looked at again once the process does something, and not only for a moment', () => {
    const { looksIn } = aProcess();
    looksIn(70, 0.001);
    looksIn(10, 0.3);

    expect(looksIn(50, 0)).toBeGreaterThanOrEqual(95);
  });

  it('is how much later than due it came to a look', () => {
    const { lag } = aProcess();
    const now = performance.now();
    jest.advanceTimersByTime(400);
    // It is blocked until then.
    jest.spyOn(performance, 'now').mockReturnValueOnce(now + 750);
    jest.advanceTimersByTime(100);

    const { max, p99 } = lag.take();

    expect(max).toBeCloseTo(0.25, 2);
    expect(p99).toBeCloseTo(0.25, 2);
    expect(lag.take()).toEqual({ looks: 0, max: 0, mean: 0, p50: 0, p90: 0, p99: 0 });
  });
});
