import { AckPolicy, DeliverPolicy, jetstreamManager, type ConsumerMessages } from '@nats-io/jetstream';
import { z } from 'zod';
import type { RawStatements, TenantDatabase } from '../postgres/postgres';
import { backgroundTask } from '../process/background-task';
import type { Close } from '../process/lifecycle';
import type { Log } from '../process/log';
import type { DeadLetters } from './dead-letters';
import { Inbox, type InboxOptions, type Subscription } from './inbox';
import {
  ensureStream,
  isMissingInJetStream,
  missingSubject,
  receiveMessages,
  sendMessage,
  subjectOf,
  type Messaging,
} from './nats';
import { EventReference, type MissingEventsResponse } from './reconciliation';

const ACK_WAIT_NANOSECONDS = 30_000_000_000;
const PREFETCHED_MAX = 200;
/** Room for what killed replicas had received and never acknowledged, so that it does not hold up the rest. */
const UNACKNOWLEDGED_MAX = 10_000;
const CLEANUP_MILLISECONDS = 3_600_000;
const RESTORE_PAUSE_MILLISECONDS = 1_000;

const usualOptions: InboxOptions = { deliveriesMax: 10, backoffMilliseconds: 200 };

export interface EventConsumer {
  /** What it could not process. */
  deadLetters: DeadLetters;
  /** Receives events from now on, until the result is called. */
  start(): Promise<Close>;
}

/**
 * Processes events of other services, each exactly once: its row in the inbox and its effect are one transaction, so a
 * repeated delivery changes nothing. All replicas of a service share one durable consumer, named after the service.
 * An event that fails again and again becomes a dead letter, and those after it go on; while the database is away
 * nothing fails, everything waits.
 */
export function eventConsumer<Tx extends RawStatements>(
  consumer: string,
  subscriptions: readonly Subscription<Tx>[],
  db: TenantDatabase<Tx>,
  messaging: Messaging,
  log: Log,
  options: Partial<InboxOptions> = {},
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
  await ensureConsumer(consumer, inbox.names, messaging);
  const stopReconciliation = respondToReconciliation(consumer, inbox, messaging);
  const cleanup = backgroundTask(() => inbox.deleteExpired(), {
    name: 'inbox cleanup',
    intervalMilliseconds: CLEANUP_MILLISECONDS,
    log,
  });

  let isClosed = false;
  let messages: ConsumerMessages | undefined;
  const run = async (): Promise<void> => {
    while (!isClosed) {
      try {
        messages = await openMessages(consumer, messaging);
        if (!isClosed) await inbox.processAll(messages);
      } catch (error) {
        if (!isMissingInJetStream(error)) log.warn({ err: error }, 'receiving events failed; will retry');
      }
      if (!isClosed) await restore(consumer, inbox.names, messaging, log);
    }
  };
  const running = run();
  return async () => {
    isClosed = true;
    await stopReconciliation();
    await messages?.close();
    await Promise.all([running, cleanup.close()]);
  };
}

const openMessages = async (consumer: string, { jetstream, prefix }: Messaging): Promise<ConsumerMessages> =>
  (await jetstream.consumers.get(prefix, consumer)).consume({
    max_messages: PREFETCHED_MAX,
    abort_on_missing_resource: true,
  });

/** After the stream or the consumer vanished: makes them again, and waits a moment where that fails too. */
async function restore(
  consumer: string,
  names: readonly string[],
  messaging: Messaging,
  log: Log,
): Promise<void> {
  try {
    await ensureStream(messaging);
    await ensureConsumer(consumer, names, messaging);
  } catch (error) {
    log.warn({ err: error }, 'restoring the consumer failed; will retry');
    await new Promise((resolve) => setTimeout(resolve, RESTORE_PAUSE_MILLISECONDS));
  }
}

async function ensureConsumer(
  consumer: string,
  names: readonly string[],
  messaging: Messaging,
): Promise<void> {
  const manager = await jetstreamManager(messaging.connection, { checkAPI: false });
  const isNew = await manager.consumers.info(messaging.prefix, consumer).then(
    () => false,
    (error: unknown) => {
      if (isMissingInJetStream(error)) return true;
      throw error;
    },
  );
  const settings = {
    ack_wait: ACK_WAIT_NANOSECONDS,
    max_deliver: -1,
    max_ack_pending: UNACKNOWLEDGED_MAX,
    filter_subjects: names.map((name) => subjectOf(messaging.prefix, name)),
  };
  // A newer release may subscribe to more than the one that made the consumer.
  if (!isNew) await manager.consumers.update(messaging.prefix, consumer, settings);
  else {
    await manager.consumers.add(messaging.prefix, {
      ...settings,
      durable_name: consumer,
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
