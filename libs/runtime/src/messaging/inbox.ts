import { setImmediate } from 'node:timers/promises';
import type { ConsumerMessages, JsMsg } from '@nats-io/jetstream';
import type { EventEnvelope } from '@plinth/kernel/event';
import { FairShares } from '@plinth/kernel/fair-shares';
import { findUnstorable, mayHaveUnstorable } from '@plinth/kernel/text';
import { isUuid } from '@plinth/kernel/uuid';
import { problemOfDatabase, type RawStatements, type TenantDatabase } from '../postgres/postgres';
import { commitWithoutWaiting, keepWhatWasCommitted } from '../postgres/commit-without-waiting';
import { readByIndexes } from '../postgres/read-by-indexes';
import { forPlatform } from '../process/current-work';
import type { Log } from '../process/log';
import { readDeadLetters, type DeadLetters } from './dead-letters';
import type { Delivery } from './delivery';
import {
  BATCH_SIZE_MAX,
  EventProcessor,
  nextBatch,
  UNANSWERED_MAX,
  type RetryOptions,
} from './event-processor';
import type { EventReference } from './reconciliation';
import { isGenuine } from './signed-message';
import type { Subscription } from './subscription';
import { TenantTurns } from './tenant-turns';
import { deleteUnwanted, storeWaiting } from './waiting-events';

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
/** Longer than any outbox stores an event, so that none is taken for new. */
const RETENTION_DAYS = 30;
/** At a time. */
const DELETED_MAX = 10_000;

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
 * Receives the events that one service subscribes to, and has each processed exactly once ({@link EventProcessor}). A
 * tenant has a share of those that are received and not processed yet. What arrives beyond it is stored, and tenants take
 * turns at that: so nobody's event waits behind the thousands of another tenant ({@link TenantTurns}). While events of a
 * tenant are stored, those that come after them are stored behind them.
 */
export class Inbox<Tx extends RawStatements> {
  private readonly processor: EventProcessor<Tx>;
  private readonly partitions = Array.from({ length: PARTITIONS }, (): Partition => ({
    begun: [],
    waiting: [],
  }));
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
    options: RetryOptions,
  ) {
    this.processor = new EventProcessor(consumer, subscriptions, db, log, options, () => this.turns.wake());
    this.turns = new TenantTurns(consumer, this.names, db, log, async (left, takeFrom) => {
      const batch = nextBatch(left);
      await this.processor.processBatch(batch, takeFrom);
      return batch.length;
    });
  }

  /** The names of the events that are subscribed to. */
  get names(): string[] {
    return this.processor.names;
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
          attempts: this.processor.hasFailed(event) ? 0 : Math.min(deliveryCount - 1, UNANSWERED_MAX - 1),
        }));
        await storeWaiting(tx, this.consumer, tenantId, waiting);
        // Where Postgres forgets it, the publisher finds the events missing.
        await commitWithoutWaiting(tx);
      });
      for (const { ack } of deliveries) ack();
    } catch (error) {
      if (deliveries.length === 1 || problemOfDatabase(error)) {
        for (const delivery of deliveries) await this.processor.retryLater(delivery, error);
      } else {
        for (const delivery of deliveries) await this.storeTogether(tenantId, [delivery]);
      }
    }
  }

  /** The events this service subscribes to and has neither processed nor stored. */
  async findMissing(events: readonly EventReference[]): Promise<string[]> {
    const wanted = events.filter(({ name }) => this.processor.isSubscribedTo(name));
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
      for (const letter of letters) if (await this.processor.replay(letter)) processed++;
      return { processed, failed: letters.length - processed };
    },
  };

  /**
   * Deletes what is older than any outbox could publish again, so much of it at a time that a statement ends in time; returns
   * whether there may be more.
   */
  async deleteExpired(limit = DELETED_MAX): Promise<boolean> {
    return this.db.inPlatform(async (tx) => {
      const inbox = await tx.$executeRawUnsafe(
        `DELETE FROM inbox WHERE ctid = ANY (ARRAY (
           SELECT ctid FROM inbox
           WHERE consumer = $1 AND applied_at < now() - interval '${RETENTION_DAYS} days'
           ORDER BY applied_at LIMIT $2))`,
        this.consumer,
        limit,
      );
      const unwanted = await deleteUnwanted(tx, this.consumer, this.names, { days: RETENTION_DAYS, limit });
      return inbox === limit || unwanted === limit;
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
      await this.processor.processBatch(batch);
      partition.begun = [];
      batch.forEach((delivery) => this.giveShare(delivery));
      if (this.setAside.size > 0) this.store();
    }
    partition.working = undefined;
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
