import type { Caller } from '@plinth/kernel/caller';

/** A lost signal delays what is new by this time at most. */
export const POLL_MILLISECONDS = 30_000;
/** Permissions are checked at the beginning only, so that clients must reconnect with a fresh credential. */
const STREAM_MILLISECONDS_MAX = 15 * 60_000;

/**
 * Yields at once, and then whenever a stream should look for something new, until the caller's credential expires.
 * Signals that come while the last one is worked on are one.
 * @param subscribe calls back with each signal, until its result is called
 */
export async function* wakeUps(
  { credentialExpiresAt }: Pick<Caller, 'credentialExpiresAt'>,
  subscribe: (listener: () => void) => () => void,
  ending: AbortSignal,
): AsyncGenerator<void> {
  const endsAt = Math.min(Date.now() + STREAM_MILLISECONDS_MAX, credentialExpiresAt ?? Infinity);
  const wakeUp = new AsyncSignal();
  const unsubscribe = subscribe(wakeUp.set);
  ending.addEventListener('abort', wakeUp.set, { once: true });
  try {
    while (!ending.aborted && Date.now() < endsAt) {
      yield;
      await wakeUp.wait(Math.min(POLL_MILLISECONDS, Math.max(endsAt - Date.now(), 0)));
    }
  } finally {
    unsubscribe();
    ending.removeEventListener('abort', wakeUp.set);
  }
}

/** Stays set until it was waited for, so that no signal is lost between two waits. */
class AsyncSignal {
  private isSet = false;
  private resume: (() => void) | undefined;

  readonly set = (): void => {
    this.isSet = true;
    this.resume?.();
  };

  async wait(millisecondsMax: number): Promise<void> {
    if (!this.isSet) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, millisecondsMax);
        this.resume = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.isSet = false;
    this.resume = undefined;
  }
}
