import {
  AckPolicy,
  DeliverPolicy,
  jetstreamManager,
  type ConsumerMessages,
  type JsMsg,
} from '@nats-io/jetstream';
import type { EventEnvelope, EventType } from '@plinth/kernel/event';
import type { Close } from './lifecycle';
import type { Log } from './log';
import { subjectOf, type Messaging } from './nats';
import type { RawStatements, TenantDatabase } from './postgres';

const DELIVERIES_MAX = 10;
const ACK_WAIT_NANOSECONDS = 30_000_000_000;
const REDELIVERY_MILLISECONDS = 1_000;

export interface Subscription<Tx> {
  type: EventType;
  /** Applies the fact inside the transaction that also notes that it was applied. */
  handle: (tx: Tx, event: EventEnvelope<never>) => Promise<void>;
}

/**
 * Applies facts of other services, each exactly once: the note in the inbox and the effect are one transaction, so a
 * repeated delivery changes nothing. All replicas of a service share one durable consumer, named after the service.
 */
export async function consumeEvents<Tx extends RawStatements>(
  consumer: string,
  subscriptions: readonly Subscription<Tx>[],
  db: TenantDatabase<Tx>,
  messaging: Messaging,
  log: Log,
): Promise<Close> {
  const handlers = new Map(subscriptions.map((subscription) => [subscription.type.name, subscription]));
  const manager = await jetstreamManager(messaging.connection);
  await manager.consumers.add(messaging.prefix, {
    durable_name: consumer,
    ack_policy: AckPolicy.Explicit,
    deliver_policy: DeliverPolicy.All,
    ack_wait: ACK_WAIT_NANOSECONDS,
    max_deliver: DELIVERIES_MAX,
    filter_subjects: [...handlers.keys()].map((name) => subjectOf(messaging.prefix, name)),
  });
  const messages = await (await messaging.jetstream.consumers.get(messaging.prefix, consumer)).consume();
  const done = applyAll(messages, handlers, consumer, db, log);
  return async () => {
    await messages.close();
    await done;
  };
}

async function applyAll<Tx extends RawStatements>(
  messages: ConsumerMessages,
  handlers: ReadonlyMap<string, Subscription<Tx>>,
  consumer: string,
  db: TenantDatabase<Tx>,
  log: Log,
): Promise<void> {
  for await (const message of messages) {
    try {
      await apply(message, handlers, consumer, db);
      message.ack();
    } catch (error) {
      log.error(
        { err: error, subject: message.subject },
        'a fact could not be applied; it will be delivered again',
      );
      message.nak(REDELIVERY_MILLISECONDS);
    }
  }
}

async function apply<Tx extends RawStatements>(
  message: JsMsg,
  handlers: ReadonlyMap<string, Subscription<Tx>>,
  consumer: string,
  db: TenantDatabase<Tx>,
): Promise<void> {
  const event = message.json<EventEnvelope>();
  const subscription = handlers.get(event.name);
  if (!subscription) return;
  await db.inTenant(event.tenantId, async (tx) => {
    const noted = await tx.$executeRawUnsafe(
      'INSERT INTO inbox (tenant_id, consumer, event_id) VALUES ($1::uuid, $2, $3::uuid) ON CONFLICT DO NOTHING',
      event.tenantId,
      consumer,
      event.id,
    );
    if (noted > 0) await subscription.handle(tx, event as EventEnvelope<never>);
  });
}
