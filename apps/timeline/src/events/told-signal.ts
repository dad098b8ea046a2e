import type { Close } from '@plinth/runtime/lifecycle';
import type { Messaging } from '@plinth/runtime/nats';

/** Wakes the open streams of people who were told something, on every replica. A lost wake-up only costs time. */
export interface ToldSignal {
  announce(tenantId: string, userIds: readonly string[]): void;
  /** Calls `wake` whenever this person was told something, until the answer is called. */
  listen(tenantId: string, userId: string, wake: () => void): () => void;
  close: Close;
}

interface Announcement {
  tenantId: string;
  userIds: string[];
}

/** Fits the largest message that NATS takes many times over. */
const ANNOUNCED_MAX = 500;

export function toldSignal({ connection, prefix }: Messaging): ToldSignal {
  const listeners = new Map<string, Set<() => void>>();
  const subject = `${prefix}.timeline.told`;
  const subscription = connection.subscribe(subject, {
    callback: (error, message) => {
      if (error) return;
      const { tenantId, userIds } = message.json<Announcement>();
      for (const userId of userIds) listeners.get(keyOf(tenantId, userId))?.forEach((wake) => wake());
    },
  });

  return {
    announce(tenantId, userIds) {
      for (let first = 0; first < userIds.length; first += ANNOUNCED_MAX) {
        const announcement: Announcement = { tenantId, userIds: userIds.slice(first, first + ANNOUNCED_MAX) };
        connection.publish(subject, JSON.stringify(announcement));
      }
    },

    listen(tenantId, userId, wake) {
      const key = keyOf(tenantId, userId);
      const wakers = listeners.get(key) ?? new Set();
      listeners.set(key, wakers.add(wake));
      return () => {
        wakers.delete(wake);
        if (wakers.size === 0) listeners.delete(key);
      };
    },

    close: () => subscription.unsubscribe(),
  };
}

const keyOf = (tenantId: string, userId: string): string => `${tenantId}/${userId}`;
