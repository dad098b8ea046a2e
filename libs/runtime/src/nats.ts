import {
  jetstream,
  JetStreamApiCodes,
  JetStreamApiError,
  jetstreamManager,
  RetentionPolicy,
  type JetStreamClient,
} from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import type { EventEnvelope, EventType, PayloadOf } from '@plinth/kernel/event';
import type { Close } from './lifecycle';
import type { Log } from './log';

const NANOSECONDS_PER_DAY = 86_400_000_000_000;
/** Published facts stay readable for consumers that were away; the outbox keeps them as long. */
export const RETENTION_DAYS = 7;
/** JetStream drops a repeated publication of the same event id within this time. */
const DUPLICATE_WINDOW_NANOSECONDS = 120_000_000_000;
const CHECK_MILLISECONDS_MAX = 2_000;

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
  const messaging = {
    connection,
    jetstream: jetstream(connection),
    prefix: config.NATS_PREFIX,
    check: () => answers(connection),
    close: () => connection.drain().catch(() => connection.close()),
  };
  await ensureStream(messaging);
  log.info({ server: connection.getServer() }, 'connected to NATS');
  return messaging;
}

/** While the connection is being restored a flush waits for it, so the wait has an end of its own. */
async function answers(connection: NatsConnection): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('NATS does not answer.')), CHECK_MILLISECONDS_MAX);
  });
  await Promise.race([connection.flush(), late]).finally(() => clearTimeout(timer));
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

/** Whether JetStream says that a stream or a consumer does not exist. */
export const isMissingInJetStream = (error: unknown): boolean =>
  error instanceof JetStreamApiError &&
  [JetStreamApiCodes.StreamNotFound, JetStreamApiCodes.ConsumerNotFound].some((code) => code === error.code);

/** The subject on which a fact travels. */
export const subjectOf = (prefix: string, eventName: string): string => `${prefix}.events.${eventName}`;

/** Where consumers are asked which facts they miss. */
export const missingSubject = (prefix: string): string => `${prefix}.inbox.missing`;

/** Where a new consumer asks all outboxes to look whether it has what was told before it came. */
export const recheckSubject = (prefix: string): string => `${prefix}.outbox.recheck`;

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
