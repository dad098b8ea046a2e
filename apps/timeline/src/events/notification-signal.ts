import type { Close } from '@plinth/runtime/process/lifecycle';
import { receiveMessages, sendMessage, type Messaging } from '@plinth/runtime/messaging/nats';
import { z } from 'zod';

/** Wakes the open streams of people who have new notifications, on every replica. A lost signal only costs time. */
export interface NotificationSignal {
  wake(tenantId: string, userIds: readonly string[]): void;
  /** Calls `listener` whenever this person has new notifications, until the returned function is called. */
  onWake(tenantId: string, userId: string, listener: () => void): () => void;
  close: Close;
}

const WakeMessage = z.object({ tenantId: z.string(), userIds: z.array(z.string()) });
type WakeMessage = z.output<typeof WakeMessage>;

/** Fits the largest message that NATS accepts many times over. */
const USERS_PER_MESSAGE_MAX = 500;

export function notificationSignal(messaging: Messaging): NotificationSignal {
  const listenersByPerson = new Map<string, Set<() => void>>();
  const subject = `${messaging.prefix}.timeline.told`;
  const close = receiveMessages(messaging, subject, WakeMessage, ({ tenantId, userIds }) => {
    for (const userId of userIds)
      listenersByPerson.get(keyOf(tenantId, userId))?.forEach((listener) => listener());
  });

  return {
    wake(tenantId, userIds) {
      for (let first = 0; first < userIds.length; first += USERS_PER_MESSAGE_MAX) {
        const message: WakeMessage = {
          tenantId,
          userIds: userIds.slice(first, first + USERS_PER_MESSAGE_MAX),
        };
        sendMessage(messaging, subject, JSON.stringify(message));
      }
    },

    onWake(tenantId, userId, listener) {
      const key = keyOf(tenantId, userId);
      const listeners = listenersByPerson.get(key) ?? new Set();
      listenersByPerson.set(key, listeners.add(listener));
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0) listenersByPerson.delete(key);
      };
    },

    close,
  };
}

const keyOf = (tenantId: string, userId: string): string => `${tenantId}/${userId}`;
