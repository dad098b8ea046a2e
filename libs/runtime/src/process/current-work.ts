/**
 * What the code that runs now works for. It is known wherever a request or a background task led, without being passed
 * from function to function, as its trace is.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

interface CurrentWork {
  /** Aborted when nobody waits for the work any more. */
  signal?: AbortSignal;
  /** Whether it is the platform's own work, although it may be done in a tenant. */
  isPlatform?: boolean;
}

const storage = new AsyncLocalStorage<CurrentWork>();
const NOTHING_KNOWN: CurrentWork = {};

/** Does the work of a request, for which nobody waits once the signal is aborted. */
export const forRequest = <Result>(signal: AbortSignal, work: () => Result): Result =>
  storage.run({ signal }, work);

/** Does the platform's own work: it goes on whoever began it, and has its own share of what is scarce. */
export const forPlatform = <Result>(work: () => Result): Result => storage.run({ isPlatform: true }, work);

/** Does work of a request that others wait for as well, so that it goes on when that request is given up. */
export const forMany = <Result>(work: () => Result): Result => storage.run(NOTHING_KNOWN, work);

export const currentWork = (): CurrentWork => storage.getStore() ?? NOTHING_KNOWN;
