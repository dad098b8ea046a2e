import { setTimeout as pause } from 'node:timers/promises';
import { drainSeconds } from '@plinth/runtime/process/drain';
import type { Gateway } from './compose';

/**
 * Stops accepting requests without losing one; event streams, which never end by themselves, end with their connections.
 * @param wait until clients have gone elsewhere
 */
export async function drain(
  gateway: Pick<Gateway, 'beginDraining' | 'finish'>,
  config: Parameters<typeof drainSeconds>[0],
  wait: () => Promise<unknown> = () => pause(drainSeconds(config) * 1000),
): Promise<void> {
  gateway.beginDraining();
  await wait();
  await gateway.finish();
}
