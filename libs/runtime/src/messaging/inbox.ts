import { setImmediate } from 'node:timers/promises';
import type { ConsumerMessages, JsMsg } from '@nats-io/jetstream';
import { SpanKind } from '@opentelemetry/api';
import { BoundedMap } from '@plinth/kernel/bounded-map';
import type { EventEnvelope, EventType, PayloadOf } from '@plinth/kernel/event';
import { FairShares } from '@plinth/kernel/fair-shares';
import { findUnstorable, mayHaveUnstorable } from '@plinth/kernel/text';
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
import type { Delivery, TakeFrom } from './delivery';
import { hasPublished } from './outbox';
import type { EventReference } from './reconciliation';
import { isGenuine } from './signed-message';
import { TenantTurns } from './tenant-turns';
import { deleteUnwanted, NONE_WAITS, storeWaiting } from './waiting-events';

/** How many transactions run side by side. */
const PARTITIONS = 4;
/** So that the event of another tenant finds one where nothing of a tenant that has thousands is processed. */
const PARTITIONS_OF_TENANT_MAX = 3;
const WAITING_MAX = 128;
/** Events may be long, and one that was read takes several times its bytes. */
const WAITING_BYTES_MAX = 8 * 1024 * 1024;
/** What was received and is to be stored. */
const SET_ASIDE_MAX = 256;
const SET_ASIDE_BYTES_MAX = 1024 * 1024;
/** Events of one tenant share a transaction, up to so many. */
const BATCH_SIZE_MAX = 16;
const BACKOFF_MILLISECONDS_MAX = 10_000;
/** Events that failed here and are remembered; those that another process processed stay until there are so many. */
const FAILURES_MAX = 10_000;
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

/**
 * Deliveries that are processed one after the other. Events of one subject are never in two of them, so they are processed
 * in the order of delivery.
 */
interface Partition {
  /** Those that are being processed. */
  begun: readonly Delivery[];
  waiting: readonly Delivery[];
  working?: Promise<void> | undefined;
}

/**
 * Processes the events that one service subscribes to, each exactly once. A tenant has a share of those that are received
 * and not processed yet. What arrives beyond it is stored, and tenants take turns at that: so nobody's event waits behind
 * the thousands of another tenant ({@link TenantTurns}). While events of a tenant are stored, those that come after them
 * are stored behind them.
 */
export class Inbox<Tx extends RawStatements> {
  private readonly subscriptions: ReadonlyMap<string, Subscription<Tx>>;
  private readonly partitions = Array.from({ length: PARTITIONS }, (): Partition => ({
    begun: [],
    waiting: [],
  }));
  /**
   * How often each event failed here, by its id. Deliveries say less, as they also count while the database is away; but
   * only they know of events that ended their process.
   */
  private readonly failures = new BoundedMap<string, number>(FAILURES_MAX);
  private readonly shares = {
    events: new FairShares(WAITING_MAX, { limitsUsers: false }),
    bytes: new FairShares(WAITING_BYTES_MAX, { limitsUsers: false }),
  };
  /** What is to be stored until the turn of its tenant, by tenant. */
  private readonly setAside = new Map<string, readonly Delivery[]>();
  private storing?: Promise<void> | undefined;
  private readonly turns: TenantTurns<Tx>;

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
    this.turns = new TenantTurns(consumer, this.names, db, log, async (left, takeFrom) => {
      const batch = nextBatch(left);
      await this.processBatch(batch, takeFrom);
      return batch.length;
    });
  }

  /** The names of the events that are subscribed to. */
  get names(): string[] {
    return [...this.subscriptions.keys()];
  }

  /** Receives messages until there are none, that is until the iterator is closed or its stream is gone. */
  async processAll(messages: ConsumerMessages): Promise<void> {
    for await (const message of messages) {
      const event = isGenuine(message, this.keys) ? readEnvelope(message) : undefined;
      if (!event) {
        // It does not become a dead letter: under the id of a genuine event it would keep that from being missed.
        this.log.error({ subject: message.subject }, 'a message that is not a signed event was discarded');
        message.term('not a signed event');
        continue;
      }
      this.receive(toDelivery(message, event));
      while (this.isFull) await Promise.race(this.working);
    }
  }

  /** Processes what is stored too, from now on, until it is stopped. */
  start(): void {
    this.turns.start();
  }

  /** Ends what was begun and what was received, after the last message. */
  async stop(): Promise<void> {
    // What was being processed may let something be stored.
    while (this.working.length > 0) await Promise.all(this.working);
    await this.turns.close();
  }

  private receive(delivery: Delivery): void {
    const { event } = delivery;
    const { tenantId } = event;
    const earlier = this.setAside.get(tenantId);
    if (!earlier && this.takeShare(delivery)) {
      const partition = this.partitionFor(event);
      partition.waiting = [...partition.waiting, delivery];
      // One tenant that holds many connections does not hold up the events of others behind its own.
      partition.working ??= forPlatform(() => this.processPartition(partition));
      return;
    }
    this.setAside.set(tenantId, [...(earlier ?? this.takeBack(tenantId)), delivery]);
    this.store();
  }

  /** @returns whether there was as much left for its tenant. */
  private takeShare({ event, bytes }: Delivery): boolean {
    const owner = ownerOf(event);
    if (this.shares.events.take(owner) !== undefined) return false;
    if (this.shares.bytes.take(owner, bytes) === undefined) return true;
    this.shares.events.give(owner);
    return false;
  }

  private giveShare({ event, bytes }: Delivery): void {
    this.shares.events.give(ownerOf(event));
    this.shares.bytes.give(ownerOf(event), bytes);
  }

  /** What was received of a tenant and is not begun, so that it is stored before what comes after it. */
  private takeBack(tenantId: string): readonly Delivery[] {
    return this.partitions.flatMap((partition) => {
      const [others, own] = divide(partition.waiting, tenantId);
      partition.waiting = others;
      own.forEach((delivery) => this.giveShare(delivery));
      return own;
    });
  }

  private store(): void {
    this.storing ??= forPlatform(() => this.storeSetAside());
  }

  /** Stores what was set aside, all of one tenant in one transaction. */
  private async storeSetAside(): Promise<void> {
    // What arrived in the same message from NATS comes along.
    await setImmediate();
    for (;;) {
      // What came before it, and may be stored itself, is done with.
      const next = [...this.setAside].find(([tenantId]) => !this.isBegun(tenantId));
      if (!next) break;
      const [tenantId, deliveries] = next;
      await this.storeTogether(tenantId, deliveries);
      const arrived = this.setAside.get(tenantId)!.slice(deliveries.length);
      // Behind the others, whose turn it is next.
      this.setAside.delete(tenantId);
      if (arrived.length > 0) this.setAside.set(tenantId, arrived);
      this.turns.wake();
    }
    this.storing = undefined;
  }

  private isBegun(tenantId: string): boolean {
    return this.partitions.some(({ begun }) => begun[0]?.event.tenantId === tenantId);
  }

  /** In one transaction; where that fails, one by one, so that only the faulty one comes again. */
  private async storeTogether(tenantId: string, deliveries: readonly Delivery[]): Promise<void> {
    try {
      await this.db.inTenant(tenantId, async (tx) => {
        const waiting = deliveries.map(({ event, deliveryCount }) => ({
          event,
          // What failed here has ended no process.
          attempts: this.failures.has(event.id) ? 0 : Math.min(deliveryCount - 1, UNANSWERED_MAX - 1),
        }));
        await storeWaiting(tx, this.consumer, tenantId, waiting);
        // Where Postgres forgets it, the publisher finds the events missing.
        await commitWithoutWaiting(tx);
      });
      for (const { ack } of deliveries) ack();
    } catch (error) {
      if (deliveries.length === 1 || problemOfDatabase(error)) {
        for (const delivery of deliveries) await this.retryLater(delivery, error);
      } else {
        for (const delivery of deliveries) await this.storeTogether(tenantId, [delivery]);
      }
    }
  }

  /** The events this service subscribes to and has neither processed nor stored. */
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
           AND NOT EXISTS (SELECT FROM waiting_event
             WHERE waiting_event.tenant_id = event.tenant_id AND consumer = $1 AND event_id = event.id)
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
      await this.process([event], {
        before: (tx) => removeDeadLetter(tx, this.consumer, event.tenantId, event.id),
      });
      return true;
    } catch (error) {
      if (!problemOfDatabase(error)) await this.storeDeadLetter(event, error, deliveries + 1);
      return false;
    }
  }

  /** Deletes what is older than any outbox could publish again. */
  async deleteExpired(): Promise<void> {
    await this.db.inPlatform(async (tx) => {
      await tx.$executeRawUnsafe(
        `DELETE FROM inbox WHERE consumer = $1 AND applied_at < now() - interval '${RETENTION_DAYS} days'`,
        this.consumer,
      );
      await deleteUnwanted(tx, this.consumer, this.names, RETENTION_DAYS);
    });
  }

  /** While what is set aside takes longer to store than to receive, or events of its tenant that were begun take long. */
  private get isFull(): boolean {
    const waiting = [...this.setAside.values()].flat();
    const bytes = waiting.reduce((sum, delivery) => sum + delivery.bytes, 0);
    return waiting.length >= SET_ASIDE_MAX || bytes >= SET_ASIDE_BYTES_MAX;
  }

  private get working(): Promise<void>[] {
    return [
      ...this.partitions.flatMap(({ working }) => working ?? []),
      ...(this.storing ? [this.storing] : []),
    ];
  }

  /**
   * Where the subject of an event waits; else where events of its tenant wait, if it has room beside them, since a
   * transaction of many costs less than many transactions; else where least waits, but not everywhere.
   */
  private partitionFor({ tenantId, subject }: EventEnvelope): Partition {
    const ofTenant = this.partitions.map((partition) => divide(heldIn(partition), tenantId)[1]);
    const ofSubject = ofTenant.findIndex((own) => own.some(({ event }) => event.subject === subject));
    if (ofSubject >= 0) return this.partitions[ofSubject]!;
    const withRoom = ofTenant.findIndex((own) => own.length > 0 && own.length < BATCH_SIZE_MAX);
    if (withRoom >= 0) return this.partitions[withRoom]!;
    const own = this.partitions.filter((_, index) => ofTenant[index]!.length > 0);
    const allowed = own.length < PARTITIONS_OF_TENANT_MAX ? this.partitions : own;
    return allowed.reduce((least, one) => (heldIn(one).length < heldIn(least).length ? one : least));
  }

  /** Processes what waits in one partition, and what comes to it meanwhile; tenants take turns. */
  private async processPartition(partition: Partition): Promise<void> {
    // What arrived in the same message from NATS comes along.
    await setImmediate();
    while (partition.waiting.length > 0) {
      const batch = nextBatch(partition.waiting);
      const left = partition.waiting.filter((delivery) => !batch.includes(delivery));
      const [others, own] = divide(left, batch[0]!.event.tenantId);
      partition.begun = batch;
      partition.waiting = [...others, ...own];
      await this.processBatch(batch);
      partition.begun = [];
      batch.forEach((delivery) => this.giveShare(delivery));
      if (this.setAside.size > 0) this.store();
    }
    partition.working = undefined;
  }

  /**
   * Processes events of one tenant in one transaction; where that fails, one by one, so that only the faulty one waits.
   * @throws where the database fails and they are stored: there they stay, in their order
   */
  private async processBatch(delivered: readonly Delivery[], takeFrom?: TakeFrom<Tx>): Promise<void> {
    let batch = delivered;
    try {
      batch = await this.discardDead(delivered);
      if (batch.length === 0) return;
      if (isUnanswered(batch[0]!)) await this.tryAsDeadLetter(batch[0]!, takeFrom);
      else
        await this.process(
          batch.map(({ event }) => event),
          { takeFrom },
        );
      for (const { ack, event } of batch) {
        this.failures.delete(event.id);
        ack();
      }
    } catch (error) {
      // What fails like this again and again makes way in the end.
      if (takeFrom && problemOfDatabase(error) && !isUnanswered(batch[0]!)) {
        for (const { event } of batch) this.countFailure(event, error);
        throw error;
      }
      if (batch.length === 1 || problemOfDatabase(error)) {
        for (const delivery of batch) await this.retryLater(delivery, error);
      } else {
        for (const delivery of batch) await this.processBatch([delivery], takeFrom);
      }
    }
  }

  /**
   * Terminates events that are delivered again although they are dead letters: whoever tried them last was killed in the
   * middle of it. Those that failed here have killed nobody. Returns the others.
   */
  private async discardDead(batch: readonly Delivery[]): Promise<readonly Delivery[]> {
    const again = batch.filter(
      ({ deliveryCount, event }) => deliveryCount > 1 && !this.failures.has(event.id),
    );
    if (again.length === 0) return batch;
    const { tenantId } = again[0]!.event;
    const ids = again.map(({ event }) => event.id);
    const found = await this.db.inTenant(tenantId, (tx) => findDeadLetters(tx, this.consumer, tenantId, ids));
    const dead = new Set(again.filter(({ event }) => found.has(event.id.toLowerCase())));
    for (const { term, event } of dead) {
      this.log.error(
        { event: event.id, name: event.name },
        'an event that kills its process is a dead letter',
      );
      await term('dead letter');
    }
    return batch.filter((delivery) => !dead.has(delivery));
  }

  /** Stores an event as a dead letter, and removes that with its effect: when it kills the process, the dead letter stays. */
  private async tryAsDeadLetter(
    { deliveryCount, event }: Delivery,
    takeFrom: TakeFrom<Tx> | undefined,
  ): Promise<void> {
    const { tenantId, id } = event;
    const reason = `It was delivered ${deliveryCount} times and never answered: it may end the process that tries it.`;
    // What failed here has killed nobody and has its ten attempts.
    if (!this.failures.has(id)) {
      await this.db.inTenant(tenantId, (tx) =>
        storeDeadLetter(tx, this.consumer, event, reason, deliveryCount),
      );
    }
    const remove = (tx: Tx) => removeDeadLetter(tx, this.consumer, tenantId, id);
    try {
      if (await this.process([event], { takeFrom, before: remove })) return;
    } catch (error) {
      if (!problemOfDatabase(error)) throw error;
      // A dead letter that stays for now is removed with the effect of the event.
      await this.db.inTenant(tenantId, remove).catch(() => undefined);
      throw error;
    }
    await this.db.inTenant(tenantId, remove);
  }

  /**
   * Processes events of a tenant in one transaction; returns whether it was their turn.
   * @param takeFrom takes them from where they waited for their turn; it is not their turn where that returns false
   * @param before what else is done in the transaction
   */
  private async process(
    events: readonly EventEnvelope[],
    { takeFrom, before }: { takeFrom?: TakeFrom<Tx> | undefined; before?: (tx: Tx) => Promise<void> },
  ): Promise<boolean> {
    const { tenantId } = events[0]!;
    const afterCommit: AfterCommit[] = [];
    const work = async (tx: Tx): Promise<boolean> => {
      // A transaction that is repeated has done nothing before.
      afterCommit.length = 0;
      if (takeFrom && !(await takeFrom(tx, events))) return false;
      await before?.(tx);
      const isTurn = takeFrom !== undefined || before !== undefined;
      const recorded = await this.record(tx, tenantId, events, isTurn);
      // They may be stored instead.
      if (recorded.length === 0) afterCommit.push(() => this.turns.wake());
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
      return true;
    };
    const isTheirTurn = await this.db.inTenant(tenantId, work, 'once');
    afterCommit.forEach((act) => act());
    return isTheirTurn;
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

  /**
   * Records events as processed; returns the ids of those that were not before. Where it is not their turn and other
   * events of their tenant wait, they are stored behind those instead.
   */
  private async record(
    tx: Tx,
    tenantId: string,
    events: readonly EventEnvelope[],
    isTurn: boolean,
  ): Promise<string[]> {
    const wanted = events.filter(({ name }) => this.subscriptions.has(name));
    const rows = await tx.$queryRawUnsafe<{ id: string }[]>(
      `INSERT INTO inbox (tenant_id, consumer, event_id)
       SELECT $1::uuid, $2, id FROM unnest($3::uuid[]) AS id WHERE $4 OR ${NONE_WAITS} ORDER BY id
       ON CONFLICT DO NOTHING RETURNING event_id::text AS id`,
      tenantId,
      this.consumer,
      wanted.map(({ id }) => id),
      isTurn,
    );
    if (!isTurn && rows.length === 0 && wanted.length > 0) {
      const waiting = wanted.map((event) => ({ event, attempts: 0 }));
      await storeWaiting(tx, this.consumer, tenantId, waiting);
    }
    return rows.map(({ id }) => id);
  }

  /** Counts nothing while the database is away, but remembers that the event ended no process. */
  private countFailure({ id }: EventEnvelope, error: unknown): number {
    const failures = (this.failures.get(id) ?? 0) + (problemOfDatabase(error) ? 0 : 1);
    this.failures.set(id, failures);
    return failures;
  }

  /** Has an event delivered again later, or stores it as a dead letter when it failed too often. */
  private async retryLater({ nak, term, event }: Delivery, error: unknown): Promise<void> {
    const failures = this.countFailure(event, error);
    if (failures >= this.options.deliveriesMax && (await this.storeDeadLetter(event, error, failures))) {
      this.failures.delete(event.id);
      await this.answer(() => term('dead letter'));
      return;
    }
    const { id, name } = event;
    this.log.warn({ err: error, event: id, name, failures }, 'processing an event failed; will retry');
    const delay = Math.min(this.options.backoffMilliseconds * 2 ** failures, BACKOFF_MILLISECONDS_MAX);
    await this.answer(() => nak(delay));
  }

  /** What has no answer is tried again. */
  private async answer(give: () => void | Promise<void>): Promise<void> {
    try {
      await give();
    } catch (error) {
      this.log.warn({ err: error }, 'answering for an event failed; it will be tried again');
    }
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

const toDelivery = (message: JsMsg, event: EventEnvelope): Delivery => ({
  event,
  bytes: message.data.length,
  deliveryCount: message.info.deliveryCount,
  ack: () => message.ack(),
  nak: (milliseconds) => message.nak(milliseconds),
  term: (reason) => message.term(reason),
});

/** Tenants share; whose event it is does not matter. */
const ownerOf = ({ tenantId }: EventEnvelope) => ({ tenantId, userId: '' });

/** As the outbox of some service may have written it, and none of the kind of another one than that on whose subject it came. */
function readEnvelope(message: JsMsg): EventEnvelope | undefined {
  try {
    const text = message.string();
    const event = JSON.parse(text) as EventEnvelope;
    // Postgres stores no such text, so no outbox had it, and neither dead letters nor waiting events could.
    if (mayHaveUnstorable(text) && findUnstorable(event) !== undefined) return undefined;
    const isEvent = isUuid(event.id) && isUuid(event.tenantId) && typeof event.subject === 'string';
    const isOfSubject = message.subject.endsWith(`.events.${event.name}`);
    const age = Date.now() - Date.parse(event.occurredAt);
    return isEvent && isOfSubject && age < RETENTION_DAYS * MILLISECONDS_PER_DAY ? event : undefined;
  } catch {
    return undefined;
  }
}

const MILLISECONDS_PER_DAY = 86_400_000;

const heldIn = ({ begun, waiting }: Partition): readonly Delivery[] => [...begun, ...waiting];

/** Deliveries of others, and those of a tenant. */
const divide = (deliveries: readonly Delivery[], tenantId: string): [Delivery[], Delivery[]] => [
  deliveries.filter(({ event }) => event.tenantId !== tenantId),
  deliveries.filter(({ event }) => event.tenantId === tenantId),
];

const isUnanswered = ({ deliveryCount }: Delivery): boolean => deliveryCount > UNANSWERED_MAX;

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
