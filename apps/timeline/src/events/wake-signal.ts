import type { Close } from '@plinth/runtime/process/lifecycle';
import { receiveMessages, sendMessage, type Messaging } from '@plinth/runtime/messaging/nats';
import { z } from 'zod';
import { entityIdHead } from '../domain/entity-id-head';

/** Wakes open streams on every replica when there is something new for them. A lost signal only costs time. */
export interface WakeSignal {
  /**
   * Wakes them now, or under load a moment later together with others.
   * @param keys name what the streams are about: people or entities
   */
  wake(tenantId: string, keys: readonly string[]): void;
  /** Calls `listener` whenever there is something new under one of these keys, until the returned function is called. */
  onWake(tenantId: string, keys: readonly string[], listener: () => void): () => void;
  close: Close;
}

/** Keys with their tenants before them. */
const WakeMessage = z.array(z.string());
type WakeMessage = z.output<typeof WakeMessage>;

/** A message of so many keys, and of so many bytes with its longest one, fits the largest one that NATS accepts. */
const KEYS_PER_MESSAGE_MAX = 500;
const MESSAGE_BYTES = 256 * 1024;
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
    for (const message of messagesOf(keys)) sendMessage(messaging, subject, JSON.stringify(message));
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

    onWake(tenantId, keys, listener) {
      const known = keys.map((key) => inTenant(tenantId, key));
      for (const key of known) listenersByKey.set(key, (listenersByKey.get(key) ?? new Set()).add(listener));
      return () => {
        for (const key of known) {
          const listeners = listenersByKey.get(key);
          listeners?.delete(listener);
          if (listeners?.size === 0) listenersByKey.delete(key);
        }
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

function* messagesOf(keys: readonly string[]): Generator<WakeMessage> {
  let message: WakeMessage = [];
  let bytes = 0;
  for (const key of keys) {
    message.push(key);
    bytes += Buffer.byteLength(JSON.stringify(key));
    if (message.length < KEYS_PER_MESSAGE_MAX && bytes < MESSAGE_BYTES) continue;
    yield message;
    message = [];
    bytes = 0;
  }
  if (message.length > 0) yield message;
}

/** The key of an entity. Where its type has a slash it may be that of another one too, which is woken for nothing. */
export const entityKey = ({ entityType, entityId }: { entityType: string; entityId: string }): string =>
  `${entityType}/${entityId}`;

/** The key of all entities of a type whose ids begin alike, as those that were made together do. */
const groupKey = (entityType: string, entityId: string): string => `/${entityType}/${entityIdHead(entityId)}`;

/** The keys under which the stream of an entity is woken. */
export const keysOfEntity = (entity: { entityType: string; entityId: string }): string[] => [
  entityKey(entity),
  groupKey(entity.entityType, entity.entityId),
];

/** The keys that wake the streams of entities: of many, such as those of an import, one for all whose ids begin alike. */
export const keysOfEntities = (entityType: string, entityIds: readonly string[]): string[] =>
  entityIds.length <= KEYS_PER_MESSAGE_MAX
    ? entityIds.map((entityId) => entityKey({ entityType, entityId }))
    : [...new Set(entityIds.map((entityId) => groupKey(entityType, entityId)))];

const inTenant = (tenantId: string, key: string): string => `${tenantId}/${key}`;
