import type { Close } from '@plinth/runtime/process/lifecycle';
import { receiveMessages, sendMessage, type Messaging } from '@plinth/runtime/messaging/nats';
import { z } from 'zod';

/** Wakes open streams on every replica when there is something new for them. A lost signal only costs time. */
export interface WakeSignal {
  /** @param keys name what the streams are about: people or entities */
  wake(tenantId: string, keys: readonly string[]): void;
  /** Calls `listener` whenever there is something new under this key, until the returned function is called. */
  onWake(tenantId: string, key: string, listener: () => void): () => void;
  close: Close;
}

const WakeMessage = z.object({ tenantId: z.string(), keys: z.array(z.string()) });
type WakeMessage = z.output<typeof WakeMessage>;

/** Fits the largest message that NATS accepts many times over. */
const KEYS_PER_MESSAGE_MAX = 500;

/** @param name of the kind of news */
export function wakeSignal(messaging: Messaging, name: 'told' | 'changed'): WakeSignal {
  const listenersByKey = new Map<string, Set<() => void>>();
  const subject = `${messaging.prefix}.timeline.${name}`;
  const close = receiveMessages(messaging, subject, WakeMessage, ({ tenantId, keys }) => {
    for (const key of keys) listenersByKey.get(inTenant(tenantId, key))?.forEach((listener) => listener());
  });

  return {
    wake(tenantId, keys) {
      for (let first = 0; first < keys.length; first += KEYS_PER_MESSAGE_MAX) {
        const message: WakeMessage = { tenantId, keys: keys.slice(first, first + KEYS_PER_MESSAGE_MAX) };
        sendMessage(messaging, subject, JSON.stringify(message));
      }
    },

    onWake(tenantId, key, listener) {
      const known = inTenant(tenantId, key);
      const listeners = listenersByKey.get(known) ?? new Set();
      listenersByKey.set(known, listeners.add(listener));
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0) listenersByKey.delete(known);
      };
    },

    close,
  };
}

/** The key of an entity; its type has no slash. */
export const entityKey = ({ entityType, entityId }: { entityType: string; entityId: string }): string =>
  `${entityType}/${entityId}`;

const inTenant = (tenantId: string, key: string): string => `${tenantId}/${key}`;
