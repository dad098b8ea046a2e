import type { Close } from './lifecycle';
import type { Log } from './log';

export interface BackgroundTaskOptions {
  /** What the log calls it when it fails: "outbox publish failed; will retry". */
  name: string;
  intervalMilliseconds: number;
  log: Pick<Log, 'warn'>;
}

/** Work that repeats while a process lives. */
export interface BackgroundTask {
  /** There is something to do; do it now instead of at the next interval. */
  wake(): void;
  /** Begins nothing more, and resolves when what runs has ended. */
  close: Close;
}

/**
 * Repeats work at an interval and when it is woken: never twice at once, and at once again while it says that there is
 * more to do. What failed is tried again at the next interval or wake.
 */
export function backgroundTask(
  work: () => Promise<boolean | void>,
  { name, intervalMilliseconds, log }: BackgroundTaskOptions,
): BackgroundTask {
  let running: Promise<void> | undefined;
  let wasWoken = false;
  let isClosed = false;

  const run = async (): Promise<void> => {
    do {
      wasWoken = false;
      while (!isClosed && (await work()));
    } while (wasWoken && !isClosed);
  };
  const wake = (): void => {
    if (isClosed) return;
    wasWoken = true;
    running ??= run()
      .catch((error: unknown) => log.warn({ err: error }, `${name} failed; will retry`))
      .finally(() => {
        running = undefined;
      });
  };
  const timer = setInterval(wake, intervalMilliseconds);
  timer.unref();
  return {
    wake,
    close: async () => {
      isClosed = true;
      clearInterval(timer);
      await running;
    },
  };
}
