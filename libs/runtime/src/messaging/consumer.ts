import { AckPolicy, DeliverPolicy, jetstreamManager, type ConsumerMessages } from '@nats-io/jetstream';
import { z } from 'zod';
import type { RawStatements, TenantDatabase } from '../postgres/postgres';
import { backgroundTask } from '../process/background-task';
import type { Close } from '../process/lifecycle';
import type { Log } from '../process/log';
import type { DeadLetters } from './dead-letters';
import type { RetryOptions } from './event-processor';
import { Inbox } from './inbox';
import type { Subscription } from './subscription';
import {
  consumerNameOf,
  ensureStream,
  isMissingInJetStream,
  missingSubject,
  receiveMessages,
  RETENTION_DAYS,
  sendMessage,
  subjectOf,
  type Messaging,
} from './nats';
import { EventReference, type MissingEventsResponse } from './reconciliation';

const ACK_WAIT_NANOSECONDS = 30_000_000_000;
const NANOSECONDS_PER_DAY = 86_400_000_000_000;
/** Of each kind; a request for more goes out when a quarter of them is processed. */
const PREFETCHED_MAX = 100;
/** Room for what killed replicas had received and never acknowledged, so that it does not hold up the rest. */
const UNACKNOWLEDGED_MAX = 10_000;
const CLEANUP_MILLISECONDS = 3_600_000;
const RESTORE_PAUSE_MILLISECONDS = 1_000;

const usualOptions: RetryOptions = { deliveriesMax: 10, backoffMilliseconds: 200 };

export interface EventConsumer {
  /** What it could not process. */
  deadLetters: DeadLetters;
  /** Receives events from now on, until the result is called. */
  start(): Promise<Close>;
}

/**
 * Processes events of other services, each exactly once: its row in the inbox and its effect are one transaction, so a
 * repeated delivery changes nothing. All replicas of a service share a durable consumer for each kind of event, so that
 * the server can let a service read these kinds and no others. An event that fails again and again becomes a dead
 * letter, and those after it go on; while the database is away nothing fails, everything waits.
 */
export function eventConsumer<Tx extends RawStatements>(
  consumer: string,
  subscriptions: readonly Subscription<Tx>[],
  db: TenantDatabase<Tx>,
  messaging: Messaging,
  log: Log,
  options: Partial<RetryOptions> = {},
): EventConsumer {
  const inbox = new Inbox(consumer, subscriptions, db, messaging.keys, log, { ...usualOptions, ...options });
  return { deadLetters: inbox.deadLetters, start: () => startConsumer(consumer, inbox, messaging, log) };
}

/** An `eventConsumer` that is started at once. */
export const consumeEvents = <Tx extends RawStatements>(
  ...parts: Parameters<typeof eventConsumer<Tx>>
): Promise<Close> => eventConsumer(...parts).start();

async function startConsumer<Tx extends RawStatements>(
  consumer: string,
  inbox: Inbox<Tx>,
  messaging: Messaging,
  log: Log,
): Promise<Close> {
  if (!messaging.connecting)
    await Promise.all(inbox.names.map((name) => ensureConsumer(consumer, name, messaging)));
  const stopReconciliation = respondToReconciliation(consumer, inbox, messaging);
  const cleanup = backgroundTask(() => inbox.deleteExpired(), {
    name: 'inbox cleanup',
    intervalMilliseconds: CLEANUP_MILLISECONDS,
    log,
  });
  // A process that never lives for an hour cleans too.
  cleanup.wake();
  inbox.start();

  let isClosed = false;
  const closing = Promise.withResolvers<void>();
  const opened = new Map<string, ConsumerMessages>();
  const receive = async (name: string): Promise<void> => {
    await Promise.race([messaging.connecting, closing.promise]);
    while (!isClosed) {
      try {
        const messages = await openMessages(consumer, name, messaging);
        opened.set(name, messages);
        if (!isClosed) await inbox.processAll(messages);
      } catch (error) {
        if (!isMissingInJetStream(error))
          log.warn({ err: error, name }, 'receiving events failed; will retry');
      }
      if (!isClosed) await restore(consumer, name, messaging, log);
    }
  };
  const running = inbox.names.map(receive);
  return async () => {
    isClosed = true;
    closing.resolve();
    await stopReconciliation();
    await Promise.all([...opened.values()].map((messages) => messages.close()));
    await Promise.all([...running, cleanup.close()]);
    await inbox.stop();
  };
}

const openMessages = async (
  consumer: string,
  name: string,
  { jetstream, prefix }: Messaging,
): Promise<ConsumerMessages> =>
  (await jetstream.consumers.get(prefix, consumerNameOf(consumer, name))).consume({
    max_messages: PREFETCHED_MAX,
    abort_on_missing_resource: true,
  });

/** After the stream or the consumer vanished: makes them again, and waits a moment where that fails too. */
async function restore(consumer: string, name: string, messaging: Messaging, log: Log): Promise<void> {
  try {
    await ensureStream(messaging);
    await ensureConsumer(consumer, name, messaging);
  } catch (error) {
    log.warn({ err: error, name }, 'restoring the consumer failed; will retry');
    await new Promise((resolve) => setTimeout(resolve, RESTORE_PAUSE_MILLISECONDS));
  }
}

async function ensureConsumer(consumer: string, name: string, messaging: Messaging): Promise<void> {
  const manager = await jetstreamManager(messaging.connection, { checkAPI: false });
  const durable = consumerNameOf(consumer, name);
  const settings = {
    ack_wait: ACK_WAIT_NANOSECONDS,
    max_deliver: -1,
    max_ack_pending: UNACKNOWLEDGED_MAX,
    // Where nobody subscribes any more; what it would have received is gone by then too.
    inactive_threshold: RETENTION_DAYS * NANOSECONDS_PER_DAY,
  };
  try {
    // Another release may have made it with other settings.
    await manager.consumers.update(messaging.prefix, durable, settings);
  } catch (error) {
    if (!isMissingInJetStream(error)) throw error;
    await manager.consumers.add(messaging.prefix, {
      ...settings,
      durable_name: durable,
      // One subject, which is then part of the request, where the server can see who may read it.
      filter_subject: subjectOf(messaging.prefix, name),
      ack_policy: AckPolicy.Explicit,
      deliver_policy: DeliverPolicy.All,
    });
  }
}

/** Responds to the reconciliation of other services with those of their events that this service does not have. */
function respondToReconciliation<Tx extends RawStatements>(
  consumer: string,
  inbox: Inbox<Tx>,
  messaging: Messaging,
): Close {
  return receiveMessages(
    messaging,
    missingSubject(messaging.prefix),
    z.array(EventReference),
    async (events, message) => {
      const missing = await inbox.findMissing(events);
      if (!message.reply) return;
      const response = JSON.stringify({ consumer, missing } satisfies MissingEventsResponse);
      sendMessage(messaging, message.reply, response);
    },
    { queue: consumer },
  );
}
