import type { EventLoopUtilization } from 'node:perf_hooks';
import { EventLoopLoad } from './event-loop-load';

/** An event loop that was active and idle for so many milliseconds. */
function anEventLoop() {
  let total = { active: 0, idle: 0 };
  const measure = (since?: EventLoopUtilization): EventLoopUtilization => {
    const active = total.active - (since?.active ?? 0);
    const idle = total.idle - (since?.idle ?? 0);
    return { active, idle, utilization: active / (active + idle || 1) };
  };
  const pass = (active: number, idle: number) =>
    (total = { active: total.active + active, idle: total.idle + idle });
  return { load: new EventLoopLoad(measure), pass };
}

it('is known of an event loop for each tenth of a second', () => {
  const { load, pass } = anEventLoop();
  expect(load.isBusy).toBe(false);
  pass(99, 0);
  expect(load.isBusy).toBe(false);
  pass(1, 0);
  expect(load.isBusy).toBe(true);
  pass(0, 99);
  expect(load.isBusy).toBe(true);
  pass(5, 5);
  expect(load.isBusy).toBe(false);
  pass(91, 9);
  expect(load.isBusy).toBe(true);
});
