import type { Close } from '@plinth/runtime/process/lifecycle';
import { receiveMessages, sendMessage, type Messaging } from '@plinth/runtime/messaging/nats';
import { z } from 'zod';

/** Wakes open streams on every replica when there is something new for them. A lost signal only costs time. */
export interface WakeSignal {
  /**
   * Wakes them now, or under load a moment later together with others.
   * @param keys name what the streams are about: people or entities
   */
  wake(tenantId: string, keys: readonly string[]): void;
  /** Calls `listener` whenever there is something new under this key, until the returned function is called. */
  onWake(tenantId: string, key: string, listener: () => void): () => void;
  close: Close;
}

/** Keys with their tenants before them. */
const WakeMessage = z.array(z.string());
type WakeMessage = z.output<typeof WakeMessage>;

/** Fits the largest message that NATS accepts many times over. */
const KEYS_PER_MESSAGE_MAX = 500;
/** A message costs its process and each replica more than the request that it is about would cost without it. */
const PAUSE_MILLISECONDS = 20;

/** @param name of the kind of news */
export function wakeSignal(messaging: Messaging, name: 'told' | 'changed'): WakeSignal {
  const listenersByKey = new Map<string, Set<() => void>>();
  const subject = `${messaging.prefix}.timeline.${name}`;
  const stopReceiving = receiveMessages(messaging, subject, WakeMessage, (keys) => {
    for (const key of keys) listenersByKey.get(key)?.forEach((listener) => listener());
  });

  const waiting = new Set<string>();
  let pause: NodeJS.Timeout | undefined;
  const send = (): void => {
    const keys = [...waiting];
    waiting.clear();
    for (let first = 0; first < keys.length; first += KEYS_PER_MESSAGE_MAX) {
      const message: WakeMessage = keys.slice(first, first + KEYS_PER_MESSAGE_MAX);
      sendMessage(messaging, subject, JSON.stringify(message));
    }
    pause = setTimeout(endPause, PAUSE_MILLISECONDS);
  };
  const endPause = (): void => {
    pause = undefined;
    if (waiting.size > 0) send();
  };

  return {
    wake(tenantId, keys) {
      for (const key of keys) waiting.add(inTenant(tenantId, key));
      if (!pause && waiting.size > 0) send();
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

    close: async () => {
      clearTimeout(pause);
      if (waiting.size > 0) send();
      clearTimeout(pause);
      await stopReceiving();
    },
  };
}

/** The key of an entity; its type has no slash. */
export const entityKey = ({ entityType, entityId }: { entityType: string; entityId: string }): string =>
  `${entityType}/${entityId}`;

const inTenant = (tenantId: string, key: string): string => `${tenantId}/${key}`;
