import type { Caller } from '@plinth/kernel/caller';
import type { FairPlaces } from '@plinth/runtime/process/fair-places';
import type { WakeSignal } from '../events/wake-signal';
import type { NotificationStore, StoredNotification } from '../store/notification-store';
import { wakeUps } from './wake-ups';

const BATCH_SIZE = 100;

interface Parts {
  notifications: Pick<NotificationStore, 'since'>;
  signal: Pick<WakeSignal, 'onWake'>;
  streamReads: FairPlaces;
}

/**
 * The notifications of a person after a position, in batches, and then new ones as they come, until their credential
 * expires.
 * Nothing is queued for a slow client: the next batch is read when the last one was consumed.
 */
export async function* notificationStream(
  caller: Caller,
  position: bigint,
  ending: AbortSignal,
  { notifications, signal, streamReads }: Parts,
): AsyncIterable<StoredNotification[]> {
  const subscribe = (listener: () => void) => signal.onWake(caller.tenantId, [caller.userId], listener);
  for await (const _ of wakeUps(caller, subscribe, ending)) {
    let batch: StoredNotification[];
    do {
      batch = await streamReads.run(caller, () => notifications.since(caller, position, BATCH_SIZE));
      const last = batch.at(-1);
      if (last) {
        position = last.sequence;
        yield batch;
      }
    } while (batch.length === BATCH_SIZE && !ending.aborted);
  }
}
