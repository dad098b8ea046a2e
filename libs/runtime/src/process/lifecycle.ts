import { ConfigurationError, EX_CONFIG } from './config';
import type { Log } from './log';
import { allocateYoung, limitBuffersWithHeap } from './garbage-collection';

export type Close = () => Promise<void> | void;

/** A shutdown that takes longer is cut off, of which `DRAIN_SECONDS` are a part; Kubernetes grants 60 s, of which 5 pass before the signal. */
const SHUTDOWN_MILLISECONDS_MAX = 45_000;

/**
 * Runs a process until SIGTERM or SIGINT, then closes what was opened, last opened first, and exits 0. Whoever stops it may
 * say so again, which changes nothing; only a second SIGINT, that is a person at the keyboard, ends it at once.
 * A failed start, an uncaught exception or an unhandled rejection closes the same way and exits 1, or 78 when the
 * configuration cannot be used.
 */
export function runProcess(log: Log, start: (onClose: (close: Close) => void) => Promise<void>): void {
  allocateYoung();
  limitBuffersWithHeap();
  const closers: Close[] = [];
  let closing = false;

  const stop = async (exitCode: number): Promise<void> => {
    if (closing) return;
    closing = true;
    setTimeout(() => {
      log.fatal('shutdown timed out; exiting');
      process.exit(exitCode || 1);
    }, SHUTDOWN_MILLISECONDS_MAX).unref();
    await closeAll(closers, log);
    process.exit(exitCode);
  };

  const fail = (error: unknown): void => {
    log.fatal({ err: error }, 'unexpected error; shutting down');
    void stop(error instanceof ConfigurationError ? EX_CONFIG : 1);
  };

  process.on('SIGTERM', () => void stop(0));
  process.once('SIGINT', () => void stop(0));
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);
  start((close) => closers.push(close)).catch((error: unknown) => {
    // What is stopped while it starts ends by an error.
    if (!closing) fail(error);
  });
}

/** Closes in reverse order of opening; one that fails does not keep the others open. */
export async function closeAll(closers: readonly Close[], log: Log): Promise<void> {
  for (const close of closers.toReversed()) {
    try {
      await close();
    } catch (error) {
      log.warn({ err: error }, 'closing a part failed');
    }
  }
}
