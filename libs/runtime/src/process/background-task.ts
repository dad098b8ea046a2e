import { forPlatform } from './current-work';
import { inTime } from './in-time';
import type { Close } from './lifecycle';
import type { Log } from './log';

export interface BackgroundTaskOptions {
  /** What the log calls it when it fails: "outbox publish failed; will retry". */
  name: string;
  intervalMilliseconds: number;
  /** How long it pauses before it works again because it was woken meanwhile; without it, not at all. */
  pauseMilliseconds?: number;
  /**
   * When it tries again after a failure, which whoever wakes it meanwhile waits for; without it, at the next interval or
   * when it is woken.
   */
  retryMilliseconds?: number;
  log: Pick<Log, 'warn'>;
}

/** How long a process that stops waits for what has begun. `runProcess` cuts it off after 45 s, of which others need some. */
const CLOSE_MILLISECONDS_MAX = 10_000;

/** Work that repeats while a process lives. */
export interface BackgroundTask {
  /** There is something to do; do it now instead of at the next interval. */
  wake(): void;
  /**
   * Begins nothing more, and resolves when what runs has ended, or after a while: whatever is left undone is done by
   * another process, or after the next start.
   */
  close: Close;
}

/**
 * Repeats work at an interval and when it is woken: never twice at once, and at once again while it says that there is
 * more to do. What failed is tried again later.
 */
export function backgroundTask(
  work: () => Promise<boolean | void>,
  { name, intervalMilliseconds, pauseMilliseconds, retryMilliseconds, log }: BackgroundTaskOptions,
): BackgroundTask {
  let running: Promise<void> | undefined;
  let wasWoken = false;
  let isClosed = false;
  let retry: NodeJS.Timeout | undefined;

  const run = async (): Promise<void> => {
    do {
      wasWoken = false;
      while (!isClosed && (await work()));
      // Those who wake it during the pause are served together.
      if (pauseMilliseconds !== undefined && !isClosed) await sleep(pauseMilliseconds);
    } while (wasWoken && !isClosed);
  };
  const tryAgain = (): void => {
    retry = undefined;
    wake();
  };
  const wake = (): void => {
    if (isClosed) return;
    wasWoken = true;
    // While all of it fails, as many runs as there are requests would only add to what is wrong.
    if (retry) return;
    // Whoever woke it may be gone before it is done.
    running ??= forPlatform(run)
      .catch((error: unknown) => {
        log.warn({ err: error }, `${name} failed; will retry`);
        if (retryMilliseconds !== undefined && !isClosed)
          retry = setTimeout(tryAgain, retryMilliseconds).unref();
      })
      .finally(() => {
        running = undefined;
        // Woken when the last turn was over already.
        if (wasWoken) wake();
      });
  };
  const timer = setInterval(wake, intervalMilliseconds);
  timer.unref();
  return {
    wake,
    close: async () => {
      isClosed = true;
      clearInterval(timer);
      clearTimeout(retry);
      if (running)
        await inTime(CLOSE_MILLISECONDS_MAX, running, () =>
          log.warn({}, `${name} did not end in time; another process does what is left`),
        );
    },
  };
}

const sleep = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));
