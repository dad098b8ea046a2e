import type { Caller } from '@plinth/kernel/caller';
import type { NotificationStore, Notified } from '../store/notification-store';
import type { ToldSignal } from './told-signal';

const BATCH_SIZE = 100;
/** A wake-up that was lost is made good after this time. */
const LOOK_MILLISECONDS = 30_000;
/** What a credential allowed at the beginning is not allowed for ever: the client comes back with a fresh one. */
const STREAM_MILLISECONDS_MAX = 15 * 60_000;

interface Parts {
  notifications: Pick<NotificationStore, 'since'>;
  told: Pick<ToldSignal, 'listen'>;
}

/**
 * What a person is told, in batches, from a position on and then as it happens.
 * Nothing is queued for a slow client: the next batch is read when the last one was taken.
 */
export async function* followNotifications(
  caller: Caller,
  position: bigint,
  ending: AbortSignal,
  { notifications, told }: Parts,
): AsyncIterable<Notified[]> {
  const endsAt = Date.now() + STREAM_MILLISECONDS_MAX;
  const bell = new Bell();
  const stopListening = told.listen(caller.tenantId, caller.userId, bell.ring);
  ending.addEventListener('abort', bell.ring, { once: true });
  try {
    while (!ending.aborted && Date.now() < endsAt) {
      const batch = await notifications.since(caller, position, BATCH_SIZE);
      const last = batch.at(-1);
      if (last) {
        position = last.sequence;
        yield batch;
      }
      if (batch.length < BATCH_SIZE) await bell.rung(LOOK_MILLISECONDS);
    }
  } finally {
    stopListening();
    ending.removeEventListener('abort', bell.ring);
  }
}

/** Remembers one ring until somebody waits for it. */
class Bell {
  private hasRung = false;
  private wake: (() => void) | undefined;

  readonly ring = (): void => {
    this.hasRung = true;
    this.wake?.();
  };

  async rung(millisecondsMax: number): Promise<void> {
    if (!this.hasRung) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, millisecondsMax);
        this.wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.hasRung = false;
    this.wake = undefined;
  }
}
