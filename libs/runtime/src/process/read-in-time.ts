import { inTime } from './in-time';

/** Less than any collector of metrics waits. */
const MILLISECONDS_MAX = 2_000;

/**
 * What a reading for a metric results in; undefined where it fails or takes long, as while a database is silent. All other
 * metrics of the process, which tell of that, would wait for it.
 */
export async function readInTime<Result>(read: () => Promise<Result>): Promise<Result | undefined> {
  const orNothing = read().catch(() => undefined);
  return inTime<Result | undefined>(MILLISECONDS_MAX, orNothing, () => undefined);
}
