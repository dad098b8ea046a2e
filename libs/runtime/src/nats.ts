import { jetstream, jetstreamManager, RetentionPolicy, type JetStreamClient } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import type { EventEnvelope, EventType, PayloadOf } from '@plinth/kernel/event';
import type { Close } from './lifecycle';
import type { Log } from './log';

const NANOSECONDS_PER_DAY = 86_400_000_000_000;
/** Published facts stay readable for replicas and consumers that were away. */
const RETENTION_DAYS = 7;
/** JetStream drops a repeated publication of the same event id within this time. */
const DUPLICATE_WINDOW_NANOSECONDS = 120_000_000_000;

export interface Messaging {
  connection: NatsConnection;
  jetstream: JetStreamClient;
  /** First word of all subjects. */
  prefix: string;
  /** Throws while the server is away. */
  check(): Promise<void>;
  close: Close;
}

/**
 * Connects to NATS and makes sure that the stream of facts exists.
 * Resolves when connected; after that the connection is restored by itself, for ever.
 */
export async function connectMessaging(
  config: { NATS_URL: string; NATS_PREFIX: string },
  log: Log,
): Promise<Messaging> {
  const connection = await connect({
    servers: config.NATS_URL,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 250,
    waitOnFirstConnect: true,
  });
  const check = async () => {
    await connection.flush();
  };
  const messaging = {
    connection,
    jetstream: jetstream(connection),
    prefix: config.NATS_PREFIX,
    check,
    close: () => connection.drain().catch(() => connection.close()),
  };
  await ensureStream(messaging);
  log.info({ server: connection.getServer() }, 'connected to NATS');
  return messaging;
}

/** Creates the stream of facts where it is missing, also after somebody deleted it. */
export async function ensureStream({
  connection,
  prefix,
}: Pick<Messaging, 'connection' | 'prefix'>): Promise<void> {
  const manager = await jetstreamManager(connection);
  await manager.streams.add({
    name: prefix,
    subjects: [`${prefix}.events.>`],
    retention: RetentionPolicy.Limits,
    max_age: RETENTION_DAYS * NANOSECONDS_PER_DAY,
    duplicate_window: DUPLICATE_WINDOW_NANOSECONDS,
  });
}

/** The subject on which a fact travels. */
export const subjectOf = (prefix: string, eventName: string): string => `${prefix}.events.${eventName}`;

/**
 * Hears every fact of one type on this replica while it is connected: for caches that live in the process.
 * Nothing is repeated, so whoever listens also heals by itself when a message is lost.
 */
export function hearOnEveryReplica<E extends EventType>(
  messaging: Messaging,
  type: E,
  handle: (event: EventEnvelope<PayloadOf<E>>) => void,
): Close {
  const subscription = messaging.connection.subscribe(subjectOf(messaging.prefix, type.name), {
    callback: (error, message) => {
      if (!error) handle(message.json<EventEnvelope<PayloadOf<E>>>());
    },
  });
  return () => subscription.unsubscribe();
}
