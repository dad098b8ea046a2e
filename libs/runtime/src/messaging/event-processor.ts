import { BoundedMap } from '@plinth/kernel/bounded-map';
import type { DeliveredEvent, EventEnvelope } from '@plinth/kernel/event';
import { commitWithoutWaiting } from '../postgres/commit-without-waiting';
import { problemOfDatabase, type RawStatements, type TenantDatabase } from '../postgres/postgres';
import type { Log } from '../process/log';
import {
  findDeadLetters,
  interruptDeadLetter,
  removeDeadLetter,
  removeNeedlessDeadLetter,
  postponeDeadLetter,
  storeAgain,
  storeDeadLetter,
  type DeadLetter,
} from './dead-letters';
import type { Delivery, TakeFrom } from './delivery';
import { hasPublished } from './outbox';
import type { AfterCommit, Subscription } from './subscription';
import { NONE_WAITS, storeWaiting } from './waiting-events';

/** Events of one tenant share a transaction, up to so many. */
export const BATCH_SIZE_MAX = 16;
const BACKOFF_MILLISECONDS_MAX = 10_000;
/** Events that failed here and are remembered; those that another process processed stay until there are so many. */
const FAILURES_MAX = 10_000;
/** An event that was delivered more often than that may be what kills its processes; it is tried alone, as a dead letter. */
export const UNANSWERED_MAX = 5;

export interface RetryOptions {
  /** An event that failed that often becomes a dead letter. */
  deliveriesMax: number;
  /** Delay before the second delivery; it doubles from one to the next. */
  backoffMilliseconds: number;
}

/**
 * Processes events that were delivered, each exactly once: a transaction that has their effects also records them in the
 * inbox. What fails is tried again, and is a dead letter in the end.
 */
export class EventProcessor<Tx extends RawStatements> {
  private readonly subscriptions: ReadonlyMap<string, Subscription<Tx>>;
  /**
   * How often each event failed here, by its id. Deliveries say less, as they also count while the database is away; but
   * only they know of events that ended their process.
   */
  private readonly failures = new BoundedMap<string, number>(FAILURES_MAX);

  constructor(
    private readonly consumer: string,
    subscriptions: readonly Subscription<Tx>[],
    private readonly db: TenantDatabase<Tx>,
    private readonly log: Log,
    private readonly options: RetryOptions,
    /** Events may have been stored until the turn of their tenant. */
    private readonly onStored: () => void,
  ) {
    this.subscriptions = new Map(subscriptions.map((entry) => [entry.type.name, entry]));
  }

  /** The names of the events that are subscribed to. */
  get names(): string[] {
    return [...this.subscriptions.keys()];
  }

  isSubscribedTo(name: string): boolean {
    return this.subscriptions.has(name);
  }

  /** Whether it failed here, so that it has ended no process. */
  hasFailed({ id }: EventEnvelope): boolean {
    return this.failures.has(id);
  }

  /**
   * Processes events of one tenant in one transaction; where that fails, one by one, so that only the faulty one waits.
   * @throws where the database fails and they are stored: there they stay, in their order
   */
  async processBatch(delivered: readonly Delivery[], takeFrom?: TakeFrom<Tx>): Promise<void> {
    let batch = delivered;
    try {
      batch = await this.discardDead(delivered);
      if (batch.length === 0) return;
      if (isUnanswered(batch[0]!)) await this.tryAsDeadLetter(batch[0]!, takeFrom);
      else await this.process(batch.map(toDelivered), { takeFrom });
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
   * middle of it. Those that failed, here or elsewhere, have killed nobody. Returns the others.
   */
  private async discardDead(batch: readonly Delivery[]): Promise<readonly Delivery[]> {
    const again = batch.filter(({ deliveryCount, event }) => deliveryCount > 1 && !this.hasFailed(event));
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

  /**
   * Stores an event as a dead letter, and removes that with its effect: when it kills the process, the dead letter stays, and
   * whoever gets the event next terminates it. One that only fails is tried again by whoever gets it.
   */
  private async tryAsDeadLetter(delivery: Delivery, takeFrom: TakeFrom<Tx> | undefined): Promise<void> {
    const { deliveryCount, event } = delivery;
    const { tenantId, id } = event;
    const reason = `It was delivered ${deliveryCount} times and never answered: it may end the process that tries it.`;
    // What failed here has killed nobody and has its ten attempts.
    if (!this.hasFailed(event)) {
      await this.db.inTenant(tenantId, (tx) =>
        storeDeadLetter(tx, this.consumer, event, reason, deliveryCount),
      );
    }
    const remove = (tx: Tx) => removeDeadLetter(tx, this.consumer, tenantId, id);
    try {
      if (await this.process([toDelivered(delivery)], { takeFrom, before: remove })) return;
    } catch (error) {
      // It may stay: another process may have found it meanwhile, and terminated the event because of it.
      await this.db
        .inTenant(tenantId, (tx) => interruptDeadLetter(tx, this.consumer, event, error))
        .catch((interruptError: unknown) =>
          this.log.warn(
            { err: interruptError, event: id },
            'a dead letter stays although its event only failed',
          ),
        );
      throw error;
    }
    await this.db.inTenant(tenantId, (tx) => removeNeedlessDeadLetter(tx, this.consumer, tenantId, id));
  }

  /**
   * Processes events of a tenant in one transaction; returns whether it was their turn. One that is not subscribed to fails:
   * recorded as processed it would be lost, although another release may subscribe to it.
   * @param takeFrom takes them from where they waited for their turn; it is not their turn where that returns false
   * @param before what else is done in the transaction
   */
  private async process(
    events: readonly DeliveredEvent[],
    { takeFrom, before }: { takeFrom?: TakeFrom<Tx> | undefined; before?: (tx: Tx) => Promise<void> },
  ): Promise<boolean> {
    const { tenantId } = events[0]!;
    const unknown = events.find(({ name }) => !this.isSubscribedTo(name));
    if (unknown) throw new Error(notSubscribedTo(unknown));
    const afterCommit: AfterCommit[] = [];
    const work = async (tx: Tx): Promise<boolean> => {
      // A transaction that is repeated has done nothing before.
      afterCommit.length = 0;
      if (takeFrom && !(await takeFrom(tx, events))) return false;
      await before?.(tx);
      const isTurn = takeFrom !== undefined || before !== undefined;
      const recorded = await this.record(tx, tenantId, events, isTurn);
      // They may be stored instead.
      if (recorded.length === 0) afterCommit.push(() => this.onStored());
      const toProcess = new Set(recorded);
      // Replicas that lock the rows of subjects in the same order never wait for each other in a circle.
      const inOrder = events.filter(({ id }) => toProcess.delete(id.toLowerCase())).sort(bySubject);
      for (const alike of this.runsOfOneHandler(inOrder)) {
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

  /** Events that follow each other and have one handler; in the end those of a subscription that is last. */
  private runsOfOneHandler(events: readonly DeliveredEvent[]): DeliveredEvent[][] {
    const subscriptionOf = ({ name }: DeliveredEvent) => this.subscriptions.get(name)!;
    const isLast = (event: DeliveredEvent) => subscriptionOf(event).isLast === true;
    const runs: DeliveredEvent[][] = [];
    for (const event of [...events.filter((one) => !isLast(one)), ...events.filter(isLast)]) {
      const run = runs.at(-1);
      if (run && subscriptionOf(run[0]!).handle === subscriptionOf(event).handle) run.push(event);
      else runs.push([event]);
    }
    return runs;
  }

  /** Processes events of one handler. */
  private async handle(
    tx: Tx,
    tenantId: string,
    events: readonly DeliveredEvent[],
  ): Promise<AfterCommit | void> {
    const parsed = events.map((event) => {
      const { type } = this.subscriptions.get(event.name)!;
      return { ...event, payload: type.payload.parse(event.payload) };
    });
    return this.subscriptions.get(events[0]!.name)!.handle(tx, tenantId, parsed as DeliveredEvent<never>[]);
  }

  /**
   * Records events as processed; returns the ids of those that were not before. Where it is not their turn and other
   * events of their tenant wait, they are stored behind those instead.
   */
  private async record(
    tx: Tx,
    tenantId: string,
    events: readonly DeliveredEvent[],
    isTurn: boolean,
  ): Promise<string[]> {
    const rows = await tx.$queryRawUnsafe<{ id: string }[]>(
      `INSERT INTO inbox (tenant_id, consumer, event_id)
       SELECT $1::uuid, $2, id FROM unnest($3::uuid[]) AS id WHERE $4 OR ${NONE_WAITS} ORDER BY id
       ON CONFLICT DO NOTHING RETURNING event_id::text AS id`,
      tenantId,
      this.consumer,
      events.map(({ id }) => id),
      isTurn,
    );
    if (!isTurn && rows.length === 0) {
      const waiting = events.map((event) => ({ event: toEnvelope(event), attempts: 0 }));
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
  async retryLater({ nak, term, event }: Delivery, error: unknown): Promise<void> {
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

  /** @returns whether it is processed now; what another replica replayed at the same time is. */
  async replay({ event, deliveries }: DeadLetter): Promise<boolean> {
    const { tenantId, id, name } = event;
    try {
      if (!this.isSubscribedTo(name)) {
        await this.db.inTenant(tenantId, (tx) =>
          postponeDeadLetter(tx, this.consumer, event, notSubscribedTo(event)),
        );
        return false;
      }
      await this.process([{ ...event, deliveryCount: Infinity }], {
        before: (tx) => removeDeadLetter(tx, this.consumer, tenantId, id),
      });
      return true;
    } catch (error) {
      if (problemOfDatabase(error)) return false;
      this.log.error({ err: error, event: id, name }, 'replaying a dead letter failed');
      try {
        return !(await this.db.inTenant(tenantId, (tx) =>
          storeAgain(tx, this.consumer, event, error, deliveries + 1),
        ));
      } catch (storeError) {
        this.log.error({ err: storeError, event: id }, 'storing the error of a dead letter failed');
        return false;
      }
    }
  }
}

const notSubscribedTo = ({ name }: EventEnvelope): string => `This release does not subscribe to ${name}.`;

const isUnanswered = ({ deliveryCount }: Delivery): boolean => deliveryCount > UNANSWERED_MAX;

/** The first deliveries of the tenant that waits longest; what was never answered is alone. */
export function nextBatch(deliveries: readonly Delivery[]): readonly Delivery[] {
  const [first] = deliveries;
  if (isUnanswered(first!)) return [first!];
  const ofTenant = deliveries.filter(({ event }) => event.tenantId === first!.event.tenantId);
  const unanswered = ofTenant.findIndex(isUnanswered);
  return ofTenant.slice(0, Math.min(BATCH_SIZE_MAX, unanswered < 0 ? Infinity : unanswered));
}

const toDelivered = ({ event, deliveryCount }: Delivery): DeliveredEvent => ({ ...event, deliveryCount });

/** As it was published. */
const toEnvelope = ({ deliveryCount: _, ...event }: DeliveredEvent): EventEnvelope => event;

/** Those of one subject in their order, as far as one service published them: they may have been delivered in another. */
export const bySubject = (one: EventEnvelope, other: EventEnvelope): number =>
  one.subject < other.subject ? -1 : one.subject > other.subject ? 1 : one.sequence - other.sequence;
