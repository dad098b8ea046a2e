import {
  AckPolicy,
  DeliverPolicy,
  jetstreamManager,
  type ConsumerMessages,
  type JsMsg,
} from '@nats-io/jetstream';
import { SpanKind } from '@opentelemetry/api';
import type { EventEnvelope, EventType, PayloadOf } from '@plinth/kernel/event';
import { isUuid } from '@plinth/kernel/uuid';
import type { Close } from './lifecycle';
import type { Log } from './log';
import {
  ensureStream,
  isMissingInJetStream,
  missingSubject,
  recheckSubject,
  subjectOf,
  type Messaging,
} from './nats';
import { problemOfDatabase, type RawStatements, type TenantDatabase } from './postgres';
import type { FactName, MissingAnswer } from './sweeper';
import { inSpan } from './tracing';

const ACK_WAIT_NANOSECONDS = 30_000_000_000;
const BACKOFF_MILLISECONDS_MAX = 10_000;
/** Facts of one subject are applied in the order of delivery; those of different subjects side by side. */
const LANES = 4;
const WAITING_MAX = 128;
const PREFETCHED_MAX = 200;
/** Facts of one tenant that wait in one lane share a transaction, up to so many. */
const TOGETHER_MAX = 16;
/** Room for what killed replicas had taken and never acknowledged, so that it does not hold up the rest. */
const UNACKNOWLEDGED_MAX = 10_000;
/** Longer than any outbox keeps a fact, so that none is taken for new. */
const NOTES_KEPT_DAYS = 30;
const TIDY_MILLISECONDS = 3_600_000;

export interface Subscription<Tx> {
  type: EventType;
  /**
   * Applies the fact inside the transaction that also notes that it was applied. May answer what is to be done after
   * the commit; that is done at most once, so nothing may depend on it.
   */
  handle: (tx: Tx, event: EventEnvelope<never>) => Promise<AfterCommit | void>;
}

type AfterCommit = () => void;

/** A subscription whose handler is given the payload that the catalogue of events promises. */
export const subscription = <E extends EventType, Tx>(
  type: E,
  handle: (tx: Tx, event: EventEnvelope<PayloadOf<E>>) => Promise<AfterCommit | void>,
): Subscription<Tx> => ({ type, handle });

export interface ConsumerOptions {
  /** A fact that cannot be applied that often becomes a dead letter. */
  deliveriesMax: number;
  /** Delay before the second delivery; it doubles from one to the next. */
  backoffMilliseconds: number;
  /** Called after facts were applied, for instance to wake the relay that tells what followed from them. */
  onApplied: () => void;
}

const usualOptions: ConsumerOptions = { deliveriesMax: 10, backoffMilliseconds: 200, onApplied: () => {} };

/**
 * Applies facts of other services, each exactly once: the note in the inbox and the effect are one transaction, so a
 * repeated delivery changes nothing. All replicas of a service share one durable consumer, named after the service.
 * A fact that fails again and again becomes a dead letter, and what comes after it flows on; while the database is
 * away nothing fails, everything waits.
 */
export async function consumeEvents<Tx extends RawStatements>(
  consumer: string,
  subscriptions: readonly Subscription<Tx>[],
  db: TenantDatabase<Tx>,
  messaging: Messaging,
  log: Log,
  options: Partial<ConsumerOptions> = {},
): Promise<Close> {
  const inbox = new Inbox(consumer, subscriptions, db, log, { ...usualOptions, ...options });
  await ensureConsumer(consumer, inbox.names, messaging);
  const questions = answerWhatIsMissing(consumer, inbox, messaging, log);
  const tidying = setInterval(() => inbox.forgetOldNotes(), TIDY_MILLISECONDS);
  tidying.unref();

  let closed = false;
  let messages: ConsumerMessages | undefined;
  const run = async (): Promise<void> => {
    while (!closed) {
      try {
        messages = await openMessages(consumer, messaging);
        if (!closed) await inbox.applyAll(messages);
      } catch (error) {
        if (!isMissingInJetStream(error))
          log.warn({ err: error }, 'facts cannot be received now; trying again');
      }
      if (!closed) await restore(consumer, inbox.names, messaging, log);
    }
  };
  const running = run();
  return async () => {
    closed = true;
    clearInterval(tidying);
    questions.unsubscribe();
    await messages?.close();
    await running;
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
    log.warn({ err: error }, 'the consumer of facts cannot be restored yet');
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
}

async function ensureConsumer(
  consumer: string,
  names: readonly string[],
  messaging: Messaging,
): Promise<void> {
  const manager = await jetstreamManager(messaging.connection);
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
  // A newer release may listen to more than the one that made the consumer.
  if (!isNew) await manager.consumers.update(messaging.prefix, consumer, settings);
  else {
    await manager.consumers.add(messaging.prefix, {
      ...settings,
      durable_name: consumer,
      ack_policy: AckPolicy.Explicit,
      deliver_policy: DeliverPolicy.All,
    });
  }
  // What was told before, and lost with the stream, is still in the outboxes.
  if (isNew) messaging.connection.publish(recheckSubject(messaging.prefix), JSON.stringify(names));
}

/** Tells the sweepers of other services which of their facts this one does not have. */
function answerWhatIsMissing<Tx extends RawStatements>(
  consumer: string,
  inbox: Inbox<Tx>,
  { connection, prefix }: Messaging,
  log: Log,
) {
  return connection.subscribe(missingSubject(prefix), {
    queue: consumer,
    callback: (_error, message) => {
      inbox
        .findMissing(message.json<FactName[]>())
        .then((missing) => message.respond(JSON.stringify({ consumer, missing } satisfies MissingAnswer)))
        .catch((error: unknown) => log.warn({ err: error }, 'it could not be told which facts are missing'));
    },
  });
}

/** A fact as it was delivered. */
interface Delivery {
  message: JsMsg;
  event: EventEnvelope;
}

/** Deliveries that are applied one after the other. */
interface Lane {
  deliveries: Delivery[];
  working?: Promise<void> | undefined;
}

class Inbox<Tx extends RawStatements> {
  private readonly subscriptions: ReadonlyMap<string, Subscription<Tx>>;
  private readonly lanes = Array.from({ length: LANES }, (): Lane => ({ deliveries: [] }));
  /** How often each fact failed here, by its id. Deliveries say less: they also count while the database is away. */
  private readonly failures = new Map<string, number>();

  constructor(
    private readonly consumer: string,
    subscriptions: readonly Subscription<Tx>[],
    private readonly db: TenantDatabase<Tx>,
    private readonly log: Log,
    private readonly options: ConsumerOptions,
  ) {
    this.subscriptions = new Map(subscriptions.map((entry) => [entry.type.name, entry]));
  }

  get names(): string[] {
    return [...this.subscriptions.keys()];
  }

  /** Applies messages until there are none, that is until the iterator is closed or its stream is gone. */
  async applyAll(messages: ConsumerMessages): Promise<void> {
    for await (const message of messages) {
      const event = readEnvelope(message);
      if (!event) {
        this.log.error({ subject: message.subject }, 'a message that is no fact was passed over');
        message.term('not a fact');
        continue;
      }
      const lane = this.lanes[laneOf(event)]!;
      lane.deliveries.push({ message, event });
      lane.working ??= this.workOff(lane);
      while (this.waiting >= WAITING_MAX) await Promise.race(this.working);
    }
    await Promise.all(this.working);
  }

  /** The facts this service listens to and has neither applied nor put aside. */
  async findMissing(facts: readonly FactName[]): Promise<string[]> {
    const wanted = facts.filter(({ name }) => this.subscriptions.has(name));
    if (wanted.length === 0) return [];
    const rows = await this.db.inPlatform((tx) =>
      tx.$queryRawUnsafe<{ id: string }[]>(
        `SELECT fact.id::text AS id FROM unnest($2::uuid[], $3::uuid[]) AS fact (tenant_id, id)
         WHERE NOT EXISTS (SELECT FROM inbox
             WHERE inbox.tenant_id = fact.tenant_id AND consumer = $1 AND event_id = fact.id)
           AND NOT EXISTS (SELECT FROM dead_letter
             WHERE dead_letter.tenant_id = fact.tenant_id AND consumer = $1 AND event_id = fact.id)`,
        this.consumer,
        wanted.map(({ tenant_id }) => tenant_id),
        wanted.map(({ id }) => id),
      ),
    );
    return rows.map(({ id }) => id);
  }

  forgetOldNotes(): void {
    const forgetting = this.db.inPlatform((tx) =>
      tx.$executeRawUnsafe(
        `DELETE FROM inbox WHERE consumer = $1 AND applied_at < now() - interval '${NOTES_KEPT_DAYS} days'`,
        this.consumer,
      ),
    );
    forgetting.catch((error: unknown) =>
      this.log.warn({ err: error }, 'old notes of the inbox were not removed'),
    );
  }

  private get waiting(): number {
    return this.lanes.reduce((sum, { deliveries }) => sum + deliveries.length, 0);
  }

  private get working(): Promise<void>[] {
    return this.lanes.flatMap(({ working }) => working ?? []);
  }

  /** Applies what waits in one lane, and what comes to it meanwhile. */
  private async workOff(lane: Lane): Promise<void> {
    while (lane.deliveries.length > 0) {
      const together = beginningOfOneTenant(lane.deliveries);
      await this.take(together);
      lane.deliveries.splice(0, together.length);
    }
    lane.working = undefined;
  }

  /** Applies facts of one tenant together; where that fails, one by one, so that only the faulty one suffers. */
  private async take(together: readonly Delivery[]): Promise<void> {
    try {
      await this.apply(together.map(({ event }) => event));
      for (const { message, event } of together) {
        this.failures.delete(event.id);
        message.ack();
      }
    } catch (error) {
      if (together.length === 1 || problemOfDatabase(error)) {
        for (const delivery of together) await this.putBack(delivery, error);
      } else {
        for (const delivery of together) await this.take([delivery]);
      }
    }
  }

  private async apply(events: readonly EventEnvelope[]): Promise<void> {
    const { tenantId } = events[0]!;
    const afterCommit: AfterCommit[] = [];
    const noted = await this.db.inTenant(tenantId, async (tx) => {
      // A transaction that is repeated has done nothing before.
      afterCommit.length = 0;
      const noted = await this.note(tx, tenantId, events);
      const toApply = new Set(noted);
      // Replicas that take the rows of subjects in the same order never wait for each other in a circle.
      for (const event of [...events].sort(bySubject)) {
        if (!toApply.delete(event.id.toLowerCase())) continue;
        const next = await this.handle(tx, event);
        if (next) afterCommit.push(next);
      }
      return noted;
    });
    afterCommit.forEach((act) => act());
    if (noted.length > 0) this.options.onApplied();
  }

  private handle(tx: Tx, event: EventEnvelope): Promise<AfterCommit | void> {
    const { type, handle } = this.subscriptions.get(event.name)!;
    const { name, traceparent } = event;
    return inSpan({ name: `apply ${name}`, kind: SpanKind.CONSUMER, traceparent }, () =>
      handle(tx, { ...event, payload: type.payload.parse(event.payload) } as EventEnvelope<never>),
    );
  }

  /** Notes facts as applied, and answers the ids of those that were not before. */
  private async note(tx: Tx, tenantId: string, events: readonly EventEnvelope[]): Promise<string[]> {
    const ids = events.filter(({ name }) => this.subscriptions.has(name)).map(({ id }) => id);
    const rows = await tx.$queryRawUnsafe<{ id: string }[]>(
      `INSERT INTO inbox (tenant_id, consumer, event_id)
       SELECT $1::uuid, $2, id FROM unnest($3::uuid[]) AS id ORDER BY id
       ON CONFLICT DO NOTHING RETURNING event_id::text AS id`,
      tenantId,
      this.consumer,
      ids,
    );
    return rows.map(({ id }) => id);
  }

  /** Lets a fact come again later, or puts it aside when it failed too often. */
  private async putBack({ message, event }: Delivery, error: unknown): Promise<void> {
    const failures = (this.failures.get(event.id) ?? 0) + (problemOfDatabase(error) ? 0 : 1);
    this.failures.set(event.id, failures);
    if (failures >= this.options.deliveriesMax && (await this.bury(event, error, failures))) {
      this.failures.delete(event.id);
      message.term('dead letter');
      return;
    }
    this.log.warn(
      { err: error, event: event.id, name: event.name, failures },
      'a fact could not be applied; it will be delivered again',
    );
    message.nak(Math.min(this.options.backoffMilliseconds * 2 ** failures, BACKOFF_MILLISECONDS_MAX));
  }

  /** Keeps a fact as a dead letter. Answers whether that worked. */
  private async bury(event: EventEnvelope, error: unknown, failures: number): Promise<boolean> {
    const reason = String(error instanceof Error ? (error.stack ?? error.message) : error);
    try {
      await this.db.inTenant(event.tenantId, (tx) =>
        tx.$executeRawUnsafe(
          `INSERT INTO dead_letter (tenant_id, consumer, event_id, name, envelope, error, deliveries)
           VALUES ($1::uuid, $2, $3::uuid, $4, $5::jsonb, $6, $7)
           ON CONFLICT (tenant_id, consumer, event_id)
           DO UPDATE SET error = excluded.error, deliveries = excluded.deliveries, died_at = now()`,
          event.tenantId,
          this.consumer,
          event.id,
          event.name,
          JSON.stringify(event),
          reason.slice(0, 4_000),
          failures,
        ),
      );
    } catch (failure) {
      this.log.error({ err: failure }, 'a dead letter could not be kept');
      return false;
    }
    this.log.error({ err: error, event: event.id, name: event.name }, 'a fact became a dead letter');
    return true;
  }
}

function readEnvelope(message: JsMsg): EventEnvelope | undefined {
  try {
    const event = message.json<EventEnvelope>();
    return isUuid(event.id) && isUuid(event.tenantId) && typeof event.name === 'string' ? event : undefined;
  } catch {
    return undefined;
  }
}

function beginningOfOneTenant(deliveries: readonly Delivery[]): Delivery[] {
  const next = deliveries.slice(0, TOGETHER_MAX);
  const { tenantId } = next[0]!.event;
  const others = next.findIndex(({ event }) => event.tenantId !== tenantId);
  return others < 0 ? next : next.slice(0, others);
}

const bySubject = (one: EventEnvelope, other: EventEnvelope): number =>
  one.subject < other.subject ? -1 : one.subject > other.subject ? 1 : 0;

/** The same lane for all facts of one subject of one tenant. */
function laneOf({ tenantId, subject }: EventEnvelope): number {
  let hash = 0;
  for (const character of `${tenantId}${subject}`) hash = (hash * 31 + character.charCodeAt(0)) | 0;
  return Math.abs(hash) % LANES;
}
