import type { Caller } from '@plinth/kernel/caller';
import type { NotificationSignal } from '../events/notification-signal';
import type { NotificationStore, StoredNotification } from '../store/notification-store';

const BATCH_SIZE = 100;
/** A lost signal delays notifications by this time at most. */
const POLL_MILLISECONDS = 30_000;
/** Permissions are checked at the beginning only, so that clients must reconnect with a fresh credential. */
const STREAM_MILLISECONDS_MAX = 15 * 60_000;

interface Parts {
  notifications: Pick<NotificationStore, 'since'>;
  signal: Pick<NotificationSignal, 'onWake'>;
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
  { notifications, signal }: Parts,
): AsyncIterable<StoredNotification[]> {
  const endsAt = Math.min(Date.now() + STREAM_MILLISECONDS_MAX, caller.credentialExpiresAt ?? Infinity);
  const wakeUp = new AsyncSignal();
  const unsubscribe = signal.onWake(caller.tenantId, caller.userId, wakeUp.set);
  ending.addEventListener('abort', wakeUp.set, { once: true });
  try {
    while (!ending.aborted && Date.now() < endsAt) {
      const batch = await notifications.since(caller, position, BATCH_SIZE);
      const last = batch.at(-1);
      if (last) {
        position = last.sequence;
        yield batch;
      }
      if (batch.length < BATCH_SIZE) {
        await wakeUp.wait(Math.min(POLL_MILLISECONDS, Math.max(endsAt - Date.now(), 0)));
      }
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
