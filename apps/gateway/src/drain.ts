import { setTimeout as pause } from 'node:timers/promises';
import { drainSeconds } from '@plinth/runtime/drain';
import type { Gateway } from './compose';

/** Stops taking requests without losing one; streams of events, which have no end of their own, end with the connections. */
export async function drain(
  gateway: Pick<Gateway, 'beginDraining' | 'finish'>,
  config: Parameters<typeof drainSeconds>[0],
): Promise<void> {
  gateway.beginDraining();
  await pause(drainSeconds(config) * 1000);
  await gateway.finish();
}
