import { setImmediate } from 'node:timers/promises';
import type { ConsumerMessages, JsMsg } from '@nats-io/jetstream';
import { SpanKind } from '@opentelemetry/api';
import type { EventEnvelope, EventType, PayloadOf } from '@plinth/kernel/event';
import { isUuid } from '@plinth/kernel/uuid';
import { problemOfDatabase, type RawStatements, type TenantDatabase } from '../postgres/postgres';
import { commitWithoutWaiting, keepWhatWasCommitted } from '../postgres/commit-without-waiting';
import { readByIndexes } from '../postgres/read-by-indexes';
import { forPlatform } from '../process/current-work';
import type { Log } from '../process/log';
import { inSpan } from '../process/tracing';
import {
  findDeadLetters,
  readDeadLetters,
  removeDeadLetter,
  storeDeadLetter,
  type DeadLetter,
  type DeadLetters,
} from './dead-letters';
import { hasPublished } from './outbox';
import type { EventReference } from './reconciliation';
import { isGenuine } from './signed-message';

/** How many transactions run side by side. */
const PARTITIONS = 4;
const WAITING_MAX = 128;
/** Events may be long, and one that was read takes several times its bytes. */
const WAITING_BYTES_MAX = 8 * 1024 * 1024;
/** Events of one tenant share a transaction, up to so many. */
const BATCH_SIZE_MAX = 16;
const BACKOFF_MILLISECONDS_MAX = 10_000;
/** An event that was delivered more often than that may be what kills its processes; it is tried alone, as a dead letter. */
const UNANSWERED_MAX = 5;
/** Longer than any outbox stores an event, so that none is taken for new. */
const RETENTION_DAYS = 30;

export interface Subscription<Tx> {
  type: EventType;
  /**
   * Processes events of a tenant inside the transaction that also records them in the inbox. May return what is to be done
   * after the commit; that is done at most once, so nothing may depend on it.
   */
  handle: HandleMany<Tx, never>;
}

type AfterCommit = () => void;
type HandleMany<Tx, Payload> = (
  tx: Tx,
  tenantId: string,
  events: readonly EventEnvelope<Payload>[],
) => Promise<AfterCommit | void>;

/** Processes events as a step of the trace of each. */
const inSpans = <Result>(
  { name }: EventType,
  events: readonly Pick<EventEnvelope, 'traceparent'>[],
  work: () => Promise<Result>,
): Promise<Result> =>
  events.reduce(
    (inner, { traceparent }) =>
      () =>
        inSpan({ name: `apply ${name}`, kind: SpanKind.CONSUMER, traceparent }, inner),
    work,
  )();

/** A subscription whose handler is given one event after the other, with the payload that the catalogue of events promises. */
export const subscription = <E extends EventType, Tx>(
  type: E,
  handle: (tx: Tx, event: EventEnvelope<PayloadOf<E>>) => Promise<AfterCommit | void>,
): Subscription<Tx> => ({
  type,
  handle: async (tx: Tx, _tenantId: string, events: readonly EventEnvelope<PayloadOf<E>>[]) => {
    const afterCommit: (AfterCommit | void)[] = [];
    for (const event of events) afterCommit.push(await inSpans(type, [event], async () => handle(tx, event)));
    return () => afterCommit.forEach((act) => act?.());
  },
});

/** The same for a handler that is given all events at once that share a transaction, for which it needs fewer statements. */
export const subscriptionOfMany = <E extends EventType, Tx>(
  type: E,
  handle: HandleMany<Tx, PayloadOf<E>>,
): Subscription<Tx> => ({
  type,
  handle: (tx: Tx, tenantId: string, events: readonly EventEnvelope<PayloadOf<E>>[]) =>
    inSpans(type, events, () => handle(tx, tenantId, events)),
});

export interface InboxOptions {
  /** An event that failed that often becomes a dead letter. */
  deliveriesMax: number;
  /** Delay before the second delivery; it doubles from one to the next. */
  backoffMilliseconds: number;
}

/** An event as it was delivered. */
interface Delivery {
  message: JsMsg;
  event: EventEnvelope;
}

/**
 * Deliveries that are processed one after the other, with those that are being processed. Events of one subject are never
 * in two of them, so they are processed in the order of delivery.
 */
interface Partition {
  deliveries: readonly Delivery[];
  working?: Promise<void> | undefined;
}

/** Processes the events that one service subscribes to, each exactly once. */
export class Inbox<Tx extends RawStatements> {
  private readonly subscriptions: ReadonlyMap<string, Subscription<Tx>>;
  private readonly partitions = Array.from({ length: PARTITIONS }, (): Partition => ({ deliveries: [] }));
  /**
   * How often each event failed here, by its id. Deliveries say less, as they also count while the database is away; but
   * only they know of events that ended their process.
   */
  private readonly failures = new Map<string, number>();

  constructor(
    private readonly consumer: string,
    subscriptions: readonly Subscription<Tx>[],
    private readonly db: TenantDatabase<Tx>,
    /** Verify that a process of the platform sent an event. */
    private readonly keys: readonly string[],
    private readonly log: Log,
    private readonly options: InboxOptions,
  ) {
    this.subscriptions = new Map(subscriptions.map((entry) => [entry.type.name, entry]));
  }

  /** The names of the events that are subscribed to. */
  get names(): string[] {
    return [...this.subscriptions.keys()];
  }

  /** Processes messages until there are none, that is until the iterator is closed or its stream is gone. */
  async processAll(messages: ConsumerMessages): Promise<void> {
    for await (const message of messages) {
      const event = isGenuine(message, this.keys) ? readEnvelope(message) : undefined;
      if (!event) {
        // It does not become a dead letter: under the id of a genuine event it would keep that from being missed.
        this.log.error({ subject: message.subject }, 'a message that is not a signed event was discarded');
        message.term('not a signed event');
        continue;
      }
      const partition = this.partitionFor(event);
      partition.deliveries = [...partition.deliveries, { message, event }];
      // One tenant that holds many connections does not hold up the events of others behind its own.
      partition.working ??= forPlatform(() => this.processPartition(partition));
      while (this.isFull) await Promise.race(this.working);
    }
    await Promise.all(this.working);
  }

  /** The events this service subscribes to and has neither processed nor stored as dead letters. */
  async findMissing(events: readonly EventReference[]): Promise<string[]> {
    const wanted = events.filter(({ name }) => this.subscriptions.has(name));
    if (wanted.length === 0) return [];
    const rows = await this.db.inPlatform(async (tx) => {
      await readByIndexes(tx);
      // The publisher asks no more for what is here.
      await keepWhatWasCommitted(tx);
      return tx.$queryRawUnsafe<{ id: string }[]>(
        `SELECT event.id::text AS id FROM unnest($2::uuid[], $3::uuid[]) AS event (tenant_id, id)
         WHERE NOT EXISTS (SELECT FROM inbox
             WHERE inbox.tenant_id = event.tenant_id AND consumer = $1 AND event_id = event.id)
           AND NOT EXISTS (SELECT FROM dead_letter
             WHERE dead_letter.tenant_id = event.tenant_id AND consumer = $1 AND event_id = event.id)`,
        this.consumer,
        wanted.map(({ tenant_id }) => tenant_id),
        wanted.map(({ id }) => id),
      );
    });
    return rows.map(({ id }) => id);
  }

  /** What could not be processed here. */
  readonly deadLetters: DeadLetters = {
    list: (limit) => this.db.inPlatform((tx) => readDeadLetters(tx, this.consumer, limit)),
    replay: async (limit, eventId) => {
      const letters = await this.db.inPlatform((tx) => readDeadLetters(tx, this.consumer, limit, eventId));
      let processed = 0;
      for (const letter of letters) if (await this.replay(letter)) processed++;
      return { processed, failed: letters.length - processed };
    },
  };

  /** @returns whether it is processed now; what another replica replayed at the same time is. */
  private async replay({ event, deliveries }: DeadLetter): Promise<boolean> {
    try {
      await this.process([event], (tx) => removeDeadLetter(tx, this.consumer, event.tenantId, event.id));
      return true;
    } catch (error) {
      if (!problemOfDatabase(error)) await this.storeDeadLetter(event, error, deliveries + 1);
      return false;
    }
  }

  /** Deletes what is older than any outbox could publish again. */
  async deleteExpired(): Promise<void> {
    await this.db.inPlatform((tx) =>
      tx.$executeRawUnsafe(
        `DELETE FROM inbox WHERE consumer = $1 AND applied_at < now() - interval '${RETENTION_DAYS} days'`,
        this.consumer,
      ),
    );
  }

  private get isFull(): boolean {
    const waiting = this.partitions.flatMap(({ deliveries }) => deliveries);
    const bytes = waiting.reduce((sum, { message }) => sum + message.data.length, 0);
    return waiting.length >= WAITING_MAX || bytes >= WAITING_BYTES_MAX;
  }

  private get working(): Promise<void>[] {
    return this.partitions.flatMap(({ working }) => working ?? []);
  }

  /**
   * Where the subject of an event waits; else where events of its tenant wait, if it has room beside them, since a
   * transaction of many costs less than many transactions; else where least waits.
   */
  private partitionFor({ tenantId, subject }: EventEnvelope): Partition {
    const ofTenant = this.partitions.map(({ deliveries }) =>
      deliveries.filter(({ event }) => event.tenantId === tenantId),
    );
    const ofSubject = ofTenant.findIndex((own) => own.some(({ event }) => event.subject === subject));
    if (ofSubject >= 0) return this.partitions[ofSubject]!;
    const withRoom = ofTenant.findIndex((own) => own.length > 0 && own.length < BATCH_SIZE_MAX);
    if (withRoom >= 0) return this.partitions[withRoom]!;
    return this.partitions.reduce((least, one) =>
      one.deliveries.length < least.deliveries.length ? one : least,
    );
  }

  /** Processes what waits in one partition, and what comes to it meanwhile. */
  private async processPartition(partition: Partition): Promise<void> {
    // What arrived in the same message from NATS comes along.
    await setImmediate();
    while (partition.deliveries.length > 0) {
      const batch = nextBatch(partition.deliveries);
      await this.processBatch(batch);
      partition.deliveries = partition.deliveries.filter((delivery) => !batch.includes(delivery));
    }
    partition.working = undefined;
  }

  /** Processes events of one tenant in one transaction; where that fails, one by one, so that only the faulty one waits. */
  private async processBatch(delivered: readonly Delivery[]): Promise<void> {
    let batch = delivered;
    try {
      batch = await this.discardDead(delivered);
      if (batch.length === 0) return;
      if (isUnanswered(batch[0]!)) await this.tryAsDeadLetter(batch[0]!);
      else await this.process(batch.map(({ event }) => event));
      for (const { message, event } of batch) {
        this.failures.delete(event.id);
        message.ack();
      }
    } catch (error) {
      if (batch.length === 1 || problemOfDatabase(error)) {
        for (const delivery of batch) await this.retryLater(delivery, error);
      } else {
        for (const delivery of batch) await this.processBatch([delivery]);
      }
    }
  }

  /**
   * Terminates events that are delivered again although they are dead letters: whoever tried them last was killed in the
   * middle of it. Those that failed here have killed nobody. Returns the others.
   */
  private async discardDead(batch: readonly Delivery[]): Promise<readonly Delivery[]> {
    const again = batch.filter(
      ({ message, event }) => message.info.deliveryCount > 1 && !this.failures.has(event.id),
    );
    if (again.length === 0) return batch;
    const { tenantId } = again[0]!.event;
    const ids = again.map(({ event }) => event.id);
    const found = await this.db.inTenant(tenantId, (tx) => findDeadLetters(tx, this.consumer, tenantId, ids));
    const dead = new Set(again.filter(({ event }) => found.has(event.id.toLowerCase())));
    for (const { message, event } of dead) {
      this.log.error(
        { event: event.id, name: event.name },
        'an event that kills its process is a dead letter',
      );
      message.term('dead letter');
    }
    return batch.filter((delivery) => !dead.has(delivery));
  }

  /** Stores an event as a dead letter, and removes that with its effect: when it kills the process, the dead letter stays. */
  private async tryAsDeadLetter({ message, event }: Delivery): Promise<void> {
    const { tenantId, id } = event;
    const { deliveryCount } = message.info;
    const reason = `It was delivered ${deliveryCount} times and never answered: it may end the process that tries it.`;
    // What failed here has killed nobody and has its ten attempts.
    if (!this.failures.get(id)) {
      await this.db.inTenant(tenantId, (tx) =>
        storeDeadLetter(tx, this.consumer, event, reason, deliveryCount),
      );
    }
    await this.process([event], (tx) => removeDeadLetter(tx, this.consumer, tenantId, id));
  }

  private async process(events: readonly EventEnvelope[], before?: (tx: Tx) => Promise<void>): Promise<void> {
    const { tenantId } = events[0]!;
    const afterCommit: AfterCommit[] = [];
    const work = async (tx: Tx): Promise<void> => {
      // A transaction that is repeated has done nothing before.
      afterCommit.length = 0;
      await before?.(tx);
      const recorded = await this.record(tx, tenantId, events);
      const toProcess = new Set(recorded);
      // Replicas that lock the rows of subjects in the same order never wait for each other in a circle.
      const inOrder = events.filter(({ id }) => toProcess.delete(id.toLowerCase())).sort(bySubject);
      for (const alike of runsOfOneName(inOrder)) {
        const next = await this.handle(tx, tenantId, alike);
        if (next) afterCommit.push(next);
      }
      // Where Postgres forgets it, the publisher finds the events missing. What must not be forgotten: events that were
      // published, and that a dead letter is removed, which nobody misses.
      if (!hasPublished(tx) && !before) await commitWithoutWaiting(tx);
    };
    await this.db.inTenant(tenantId, work, 'once');
    afterCommit.forEach((act) => act());
  }

  /** Processes events of one name. */
  private async handle(
    tx: Tx,
    tenantId: string,
    events: readonly EventEnvelope[],
  ): Promise<AfterCommit | void> {
    const { type, handle } = this.subscriptions.get(events[0]!.name)!;
    const parsed = events.map((event) => ({ ...event, payload: type.payload.parse(event.payload) }));
    return handle(tx, tenantId, parsed as EventEnvelope<never>[]);
  }

  /** Records events as processed; returns the ids of those that were not before. */
  private async record(tx: Tx, tenantId: string, events: readonly EventEnvelope[]): Promise<string[]> {
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

  /** Has an event delivered again later, or stores it as a dead letter when it failed too often. */
  private async retryLater({ message, event }: Delivery, error: unknown): Promise<void> {
    const failures = (this.failures.get(event.id) ?? 0) + (problemOfDatabase(error) ? 0 : 1);
    this.failures.set(event.id, failures);
    if (failures >= this.options.deliveriesMax && (await this.storeDeadLetter(event, error, failures))) {
      this.failures.delete(event.id);
      message.term('dead letter');
      return;
    }
    const { id, name } = event;
    this.log.warn({ err: error, event: id, name, failures }, 'processing an event failed; will retry');
    message.nak(Math.min(this.options.backoffMilliseconds * 2 ** failures, BACKOFF_MILLISECONDS_MAX));
  }

  /** @returns whether it was stored. */
  private async storeDeadLetter(event: EventEnvelope, error: unknown, failures: number): Promise<boolean> {
    try {
      await this.db.inTenant(event.tenantId, (tx) =>
        storeDeadLetter(tx, this.consumer, event, error, failures),
      );
    } catch (storeError) {
      this.log.error({ err: storeError }, 'storing a dead letter failed; will retry');
      return false;
    }
    this.log.error({ err: error, event: event.id, name: event.name }, 'an event became a dead letter');
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

const isUnanswered = ({ message }: Delivery): boolean => message.info.deliveryCount > UNANSWERED_MAX;

/** The first deliveries of the tenant that waits longest; what was never answered is alone. */
function nextBatch(deliveries: readonly Delivery[]): readonly Delivery[] {
  const [first] = deliveries;
  if (isUnanswered(first!)) return [first!];
  const ofTenant = deliveries.filter(({ event }) => event.tenantId === first!.event.tenantId);
  const unanswered = ofTenant.findIndex(isUnanswered);
  return ofTenant.slice(0, Math.min(BATCH_SIZE_MAX, unanswered < 0 ? Infinity : unanswered));
}

const bySubject = (one: EventEnvelope, other: EventEnvelope): number =>
  one.subject < other.subject ? -1 : one.subject > other.subject ? 1 : 0;

/** Events that follow each other and have one name. */
function runsOfOneName(events: readonly EventEnvelope[]): EventEnvelope[][] {
  const runs: EventEnvelope[][] = [];
  for (const event of events) {
    const last = runs.at(-1);
    if (last?.[0]!.name === event.name) last.push(event);
    else runs.push([event]);
  }
  return runs;
}
