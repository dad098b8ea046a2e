import type { Close } from './lifecycle';
import type { Log } from './log';

/** Sweeps now and then, for as long as the process lives; what failed is tried again the next time. */
export function sweepRegularly(sweep: () => Promise<void>, seconds: number, log: Log): Close {
  let running: Promise<void> | undefined;
  const timer = setInterval(() => {
    running ??= sweep()
      .catch((error: unknown) => log.warn({ err: error }, `${sweep.name} failed`))
      .finally(() => {
        running = undefined;
      });
  }, seconds * 1_000);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await running;
  };
}
