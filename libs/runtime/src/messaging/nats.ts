import {
  DiscardPolicy,
  jetstream,
  JetStreamApiCodes,
  JetStreamApiError,
  jetstreamManager,
  RetentionPolicy,
  type JetStreamClient,
  type JetStreamManager,
} from '@nats-io/jetstream';
import {
  connect,
  type ConnectionOptions,
  type Msg,
  type NatsConnection,
  type Subscription,
} from '@nats-io/transport-node';
import { setTimeout as pause } from 'node:timers/promises';
import type { EventEnvelope, EventType, PayloadOf } from '@plinth/kernel/event';
import { z } from 'zod';
import { inTime } from '../process/in-time';
import type { Close } from '../process/lifecycle';
import type { Log } from '../process/log';
import { isGenuine, signMessage } from './signed-message';

const NANOSECONDS_PER_DAY = 86_400_000_000_000;
/** Published events stay readable for consumers that were away; the outbox stores them as long. */
export const RETENTION_DAYS = 7;
/** JetStream drops a repeated publication of the same event id within this time. */
const DUPLICATE_WINDOW_NANOSECONDS = 120_000_000_000;
const CHECK_MILLISECONDS_MAX = 2_000;
/** A server that is lost with its machine closes no connection; after two pings without an answer it is left. */
const PING_MILLISECONDS = 5_000;
/** How long a start waits for the server, which nearly always is there. */
const START_MILLISECONDS_MAX = 2_000;
const RECONNECT_MILLISECONDS = 250;
/** How long a process that ends waits for a server that is away: what was not published is in the outbox. */
const DRAIN_MILLISECONDS_MAX = 2_000;
/** Code of JetStream for a stream of this name that is not as it would be created. */
const STREAM_HAS_OTHER_SETTINGS = 10_058;
/** Codes of JetStream where the server, each one of a cluster, or the account has less room left than a stream may need. */
const TOO_LITTLE_ROOM: readonly number[] = [10_002, 10_005, 10_023, 10_047, 10_122];

export interface MessagingConfig {
  NATS_URL: string;
  NATS_PREFIX: string;
  EVENT_KEYS: readonly string[];
  NATS_USER?: string | undefined;
  NATS_PASSWORD?: string | undefined;
  NATS_CA?: string | undefined;
  /** How large the stream may become; without it, a stream is made without a bound, and one that has one keeps it. */
  NATS_STREAM_BYTES_MAX?: number | undefined;
}

export interface Messaging {
  /** @throws while the server has not been there yet */
  readonly connection: NatsConnection;
  /** @throws while the server has not been there yet */
  readonly jetstream: JetStreamClient;
  /** Of a process that started while the server was away: resolves when it is there; undefined from then on. */
  readonly connecting?: Promise<void> | undefined;
  /** First word of all subjects. */
  prefix: string;
  /** Sign what is sent, and verify what is received. */
  keys: readonly string[];
  /** How large the stream of events may become. */
  streamBytesMax?: number | undefined;
  log: Log;
  /** @throws while the server is away. */
  check(): Promise<void>;
  close: Close;
}

/**
 * Connects to NATS and makes sure that the stream of events exists.
 * Resolves when connected, or after a moment where the server is away: whoever starts then serves requests, whose events
 * wait in the outbox, and is connected later. After that the connection is restored by itself, for ever.
 * @param options.pingMilliseconds how often the server is asked whether it is there; it is left after two pings without an answer
 * @param options.startMilliseconds how long it is waited for
 * @param options.drainMilliseconds how long it is waited for at the end
 */
export async function connectMessaging(
  config: MessagingConfig,
  log: Log,
  {
    pingMilliseconds = PING_MILLISECONDS,
    startMilliseconds = START_MILLISECONDS_MAX,
    drainMilliseconds = DRAIN_MILLISECONDS_MAX,
  } = {},
): Promise<Messaging> {
  const closing = new AbortController();
  let opened: Pick<Messaging, 'connection' | 'jetstream'> | undefined;
  const requireOpened = () => {
    if (!opened) throw new Error('NATS has not been there since this process started.');
    return opened;
  };
  const { promise: connecting, resolve } = Promise.withResolvers<void>();
  const open = async (): Promise<void> => {
    const connection = await connectFirst(config, log, { pingMilliseconds, signal: closing.signal });
    if (!connection) return;
    opened = { connection, jetstream: jetstream(connection) };
    resolve();
  };
  // What fails then is mostly the closing of a connection that was lost meanwhile.
  open().catch((err: unknown) => log.error({ err }, 'the connection to NATS could not be used'));
  await inTime(startMilliseconds, connecting, () => undefined);
  return {
    get connection() {
      return requireOpened().connection;
    },
    get jetstream() {
      return requireOpened().jetstream;
    },
    get connecting() {
      return opened ? undefined : connecting;
    },
    prefix: config.NATS_PREFIX,
    keys: config.EVENT_KEYS,
    streamBytesMax: config.NATS_STREAM_BYTES_MAX,
    log,
    check: async () => requireResponse(requireOpened().connection),
    close: async () => {
      closing.abort();
      const connection = opened?.connection;
      if (!connection) return;
      const drained = connection.drain().catch(() => undefined);
      await inTime(drainMilliseconds, drained, () => undefined);
      await connection.close();
    },
  };
}

/** The first connection, for which it tries until it is closed: the client of NATS would go on after that. */
async function connectFirst(
  config: MessagingConfig,
  log: Log,
  { pingMilliseconds, signal }: { pingMilliseconds: number; signal: AbortSignal },
): Promise<NatsConnection | undefined> {
  let connection: NatsConnection | undefined;
  let reason = '';
  while (!signal.aborted) {
    try {
      if (connection?.isClosed() !== false)
        connection = await connect({
          ...serverOf(config),
          maxReconnectAttempts: -1,
          // A server that comes back may know its users a moment later.
          ignoreAuthErrorAbort: true,
          // Each publication would take a stack trace, in case that it fails.
          noAsyncTraces: true,
          reconnectTimeWait: RECONNECT_MILLISECONDS,
          pingInterval: pingMilliseconds,
        });
      const { NATS_PREFIX: prefix, NATS_STREAM_BYTES_MAX: streamBytesMax } = config;
      await ensureStream({ connection, prefix, streamBytesMax, log });
      log.info({ server: connection.getServer() }, 'connected to NATS');
      if (!signal.aborted) return connection;
    } catch (error) {
      const { message } = error as Error;
      if (message !== reason) log.warn({ err: error }, 'NATS is away; will retry');
      reason = message;
      await pause(RECONNECT_MILLISECONDS);
    }
  }
  await connection?.close();
  return undefined;
}

/**
 * Where the server is, and who connects. A user has an inbox of its own, so that the server can keep others from
 * reading what it is sent.
 */
const serverOf = ({ NATS_URL, NATS_USER, NATS_PASSWORD, NATS_CA }: MessagingConfig): ConnectionOptions => ({
  servers: NATS_URL,
  ...(NATS_USER !== undefined && {
    user: NATS_USER,
    pass: NATS_PASSWORD ?? '',
    inboxPrefix: `_INBOX_${NATS_USER}`,
  }),
  ...(NATS_URL.startsWith('tls:') && { tls: NATS_CA === undefined ? {} : { ca: NATS_CA } }),
});

/** While the connection is being restored a flush waits for it, so the wait has an end of its own. */
async function requireResponse(connection: NatsConnection): Promise<void> {
  await inTime(CHECK_MILLISECONDS_MAX, connection.flush(), () => {
    throw new Error('NATS does not respond.');
  });
}

/**
 * Creates the stream of events where it is missing, also after it was deleted. Of one with other settings only the bound is
 * changed to what is configured: its operator gave it replicas or limits, or it was created by another release.
 *
 * A full stream drops its oldest events, which nearly always were processed long ago. It loses none: what a consumer does
 * not have is published again from the outbox. Were new ones refused instead, all events of everybody would wait until the
 * oldest are a week old, which one tenant could bring about.
 */
export async function ensureStream({
  connection,
  prefix,
  streamBytesMax,
  log,
}: Pick<Messaging, 'connection' | 'prefix' | 'streamBytesMax' | 'log'>): Promise<void> {
  const manager = await jetstreamManager(connection, { checkAPI: false });
  const create = (bytesMax = -1) =>
    manager.streams.add({
      name: prefix,
      subjects: [`${prefix}.events.>`],
      retention: RetentionPolicy.Limits,
      discard: DiscardPolicy.Old,
      max_age: RETENTION_DAYS * NANOSECONDS_PER_DAY,
      max_bytes: bytesMax,
      duplicate_window: DUPLICATE_WINDOW_NANOSECONDS,
    });
  try {
    await create(streamBytesMax);
  } catch (error) {
    if (isOfJetStream(error, [STREAM_HAS_OTHER_SETTINGS])) {
      if (streamBytesMax !== undefined) await changeBound(manager, prefix, streamBytesMax, log);
      return;
    }
    // The server sets aside what a stream may need. Where it has less, its own limit is the lower one.
    if (streamBytesMax === undefined || !isOfJetStream(error, TOO_LITTLE_ROOM)) throw error;
    log.warn({ err: error, streamBytesMax }, 'NATS has less room than the stream of events may need');
    await create().catch((again: unknown) => {
      if (!isOfJetStream(again, [STREAM_HAS_OTHER_SETTINGS])) throw again;
    });
  }
}

const KEEPS_ITS_BOUND = 'the stream of events keeps another bound than the configured one';

/**
 * Gives a stream that is there the bound that is configured, unless it would drop events at once. Whoever starts last decides
 * while processes with different bounds run. A stream with another bound works, so a failure is no reason not to start: the
 * user of a service may lack the right to change what is there, or the server may lack the room.
 */
async function changeBound(
  { streams }: JetStreamManager,
  prefix: string,
  streamBytesMax: number,
  log: Log,
): Promise<void> {
  try {
    const { config, state } = await streams.info(prefix);
    if (config.max_bytes === streamBytesMax) return;
    if (state.bytes > streamBytesMax) {
      log.warn({ bytes: state.bytes, streamBytesMax }, KEEPS_ITS_BOUND);
      return;
    }
    await streams.update(prefix, { max_bytes: streamBytesMax });
    log.info({ from: config.max_bytes, to: streamBytesMax }, 'changed the bound of the stream of events');
  } catch (error) {
    log.warn({ err: error, streamBytesMax }, KEEPS_ITS_BOUND);
  }
}

const isOfJetStream = (error: unknown, codes: readonly number[]): boolean =>
  error instanceof JetStreamApiError && codes.includes(error.code);

/** How much of what it may store the stream of events stores, from 0 to 1; undefined where it has no bound. */
export async function readStreamFill(messaging: Messaging): Promise<number | undefined> {
  const manager = await jetstreamManager(messaging.connection, { checkAPI: false });
  const { config, state } = await manager.streams.info(messaging.prefix);
  return config.max_bytes > 0 ? state.bytes / config.max_bytes : undefined;
}

/** Whether JetStream says that a stream or a consumer does not exist. */
export const isMissingInJetStream = (error: unknown): boolean =>
  isOfJetStream(error, [JetStreamApiCodes.StreamNotFound, JetStreamApiCodes.ConsumerNotFound]);

/** The subject on which an event travels. */
export const subjectOf = (prefix: string, eventName: string): string => `${prefix}.events.${eventName}`;

/** The durable consumer through which a service receives one kind of event. */
export const consumerNameOf = (service: string, eventName: string): string =>
  `${service}_${eventName.replaceAll('.', '_')}`;

/** Where consumers are asked which events they do not have. */
export const missingSubject = (prefix: string): string => `${prefix}.inbox.missing`;

/**
 * Receives every event of one type on this replica while it is connected: for caches that live in the process.
 * Nothing is repeated, so a subscriber must also recover by itself when a message is lost.
 */
export function subscribeBroadcast<E extends EventType>(
  messaging: Messaging,
  type: E,
  handle: (event: EventEnvelope<PayloadOf<E>>) => void,
): Close {
  const envelope = z.looseObject({ tenantId: z.guid(), payload: type.payload });
  return receiveMessages(messaging, subjectOf(messaging.prefix, type.name), envelope, (event) =>
    handle(event as unknown as EventEnvelope<PayloadOf<E>>),
  );
}

/** Sends a signed message to whoever listens just now; nobody does before this process is connected. */
export function sendMessage(
  messaging: Pick<Messaging, 'connection' | 'connecting' | 'keys'>,
  subject: string,
  body: string,
): void {
  if (messaging.connecting) return;
  messaging.connection.publish(subject, body, { headers: signMessage(subject, body, messaging.keys) });
}

/**
 * Receives the messages of a subject that a process of the platform signed and that have this shape. Others are logged
 * and ignored, and so are errors of the handler: thrown at the connection they would break it, and with it everything
 * that the process receives.
 */
export function receiveMessages<Content>(
  messaging: Pick<Messaging, 'connection' | 'connecting' | 'keys' | 'log'>,
  subject: string,
  shape: z.ZodType<Content>,
  handle: (content: Content, message: Msg) => void | Promise<void>,
  options: { queue?: string } = {},
): Close {
  const { keys, log } = messaging;
  const receive = async (message: Msg): Promise<void> => {
    // A consumer of JetStream can have a message of another subject delivered here, which was signed for that.
    if (message.subject !== subject || !isGenuine(message, keys))
      throw new Error('The message was not signed by a process of the platform.');
    await handle(shape.parse(message.json()), message);
  };
  let subscription: Subscription | undefined;
  let isStopped = false;
  const subscribe = (): void => {
    if (isStopped) return;
    subscription = messaging.connection.subscribe(subject, {
      ...options,
      callback: (error, message) => {
        if (error) log.warn({ err: error, subject }, 'subscription failed');
        else receive(message).catch((err: unknown) => log.warn({ err, subject }, 'message ignored'));
      },
    });
  };
  if (messaging.connecting) void messaging.connecting.then(subscribe);
  else subscribe();
  return () => {
    isStopped = true;
    subscription?.unsubscribe();
  };
}
