import { BoundedMap } from '@plinth/kernel/bounded-map';
import { commitWithoutWaiting } from '../postgres/commit-without-waiting';
import type { RawStatements, TenantDatabase } from '../postgres/postgres';
import { readByIndexes } from '../postgres/read-by-indexes';
import { backgroundTask, type BackgroundTask } from '../process/background-task';
import { PacedWork } from '../process/paced-work';
import type { Log } from '../process/log';
import { lockDeadLetter } from './dead-letters';
import type { Delivery, TakeFrom } from './delivery';
import {
  findWaitingTenants,
  lockWaiting,
  postponeWaiting,
  removeWaiting,
  takeTurnOf,
  takeWaiting,
  type TakenEvent,
  type WaitingEvent,
} from './waiting-events';

/** Events of one turn. */
const EVENTS_MAX = 16;
/** Finds what another process left that died, as late as a relay does. */
const INTERVAL_MILLISECONDS = 30_000;
/** After the database failed, for a tenant or for all. */
const RETRY_MILLISECONDS = 1_000;
/** A turn ends when it took longer, such as one that waited for a lock, and is followed by a rest as long. */
const LONG_MILLISECONDS = 3_000;
/** Tenants of which something is remembered. */
const TENANTS_MAX = 10_000;
/** After that a process looks whether the turns that others had are over. */
const ELSEWHERE_MILLISECONDS = 200;
/** Longer than any transaction that stores events. */
const STORING_MILLISECONDS_MAX = 30_000;

/** Up to which position no untried event of a tenant is left, and up to which one soon will be known to be. */
interface Emptied {
  upTo: bigint;
  /** No event was seen up to there, and none will be once the transactions before have ended that may store one. */
  soon: { upTo: bigint; before: bigint; at: number };
}

/**
 * Tenants take turns at their stored events: in each round every tenant of which some are due has one turn, in one process
 * at a time. What must be known between rounds is in the database.
 *
 * While any transaction of the database is open, Postgres keeps the index entries of all events that were removed since
 * it began. So who waits is not looked for all the time, and a turn begins behind the position up to which no untried event
 * is left. Positions are not committed in their order: the position counts once every transaction has ended that may have
 * taken an earlier one.
 */
export class TenantTurns<Tx extends RawStatements> {
  private task?: BackgroundTask;
  private isClosed = false;
  private timer?: NodeJS.Timeout;
  /** Until when tenants have no turn here whose last one failed or took long, so that others do not wait for it again. */
  private readonly restingUntil = new BoundedMap<string, number>(TENANTS_MAX);
  private readonly finding: PacedWork<WaitingSince[]>;
  private waiting: WaitingSince[] = [];
  private readonly emptied = new BoundedMap<string, Emptied>(TENANTS_MAX);

  /**
   * @param process processes the first of these events, in their order, and returns how many; rejects where the database
   * fails
   */
  constructor(
    private readonly consumer: string,
    private readonly names: readonly string[],
    private readonly db: TenantDatabase<Tx>,
    private readonly log: Log,
    private readonly process: (left: readonly Delivery[], takeFrom: TakeFrom<Tx>) => Promise<number>,
  ) {
    this.finding = new PacedWork(() => this.findWaiting());
  }

  start(): void {
    this.task = backgroundTask(() => this.takeRound(), {
      name: 'turns of waiting events',
      intervalMilliseconds: INTERVAL_MILLISECONDS,
      retryMilliseconds: RETRY_MILLISECONDS,
      log: this.log,
    });
    this.wake();
  }

  /** Something was stored. */
  wake(): void {
    this.task?.wake();
  }

  /** Begins no further turn, and resolves when the last one has ended. */
  async close(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.timer);
    await this.task?.close();
  }

  /** Gives every tenant a turn; returns whether any had one, so that more may be due. */
  private async takeRound(): Promise<boolean> {
    const isFresh = this.waiting.length === 0 || this.finding.isRested;
    if (isFresh) this.waiting = await this.finding.do();
    let isAnyTaken = false;
    let pause = Infinity;
    for (const waiting of this.waiting) {
      if (this.isClosed) return false;
      const { tenantId, dueAt } = waiting;
      const delay = Math.max(dueAt - performance.now(), this.restOf(tenantId));
      if (delay > 0) pause = Math.min(pause, delay);
      else if (await this.takeTurn(tenantId, isFresh)) isAnyTaken = true;
      else {
        pause = Math.min(pause, ELSEWHERE_MILLISECONDS);
        this.waiting = this.waiting.filter((other) => other !== waiting);
      }
    }
    if (!isAnyTaken && !isFresh) {
      // Others may wait meanwhile.
      this.waiting = [];
      return true;
    }
    clearTimeout(this.timer);
    if (pause < Infinity) this.timer = setTimeout(() => this.wake(), pause).unref();
    return isAnyTaken;
  }

  private async findWaiting(): Promise<WaitingSince[]> {
    const found = await this.db.inPlatform(async (tx) => {
      await readByIndexes(tx);
      return findWaitingTenants(tx, this.consumer, this.names);
    });
    const now = performance.now();
    return found.map(({ tenantId, dueInMilliseconds }) => ({ tenantId, dueAt: now + dueInMilliseconds }));
  }

  private restOf(tenantId: string): number {
    const rest = (this.restingUntil.get(tenantId) ?? 0) - performance.now();
    if (rest <= 0) this.restingUntil.delete(tenantId);
    return rest;
  }

  /**
   * Processes the oldest due events of a tenant; returns whether there were any and no other process had its turn.
   * @param isFound whether events of it were found just now
   */
  private async takeTurn(tenantId: string, isFound: boolean): Promise<boolean> {
    const { consumer, names } = this;
    const begunAt = performance.now();
    const after = this.emptied.get(tenantId)?.upTo ?? 0n;
    let restMin = 0;
    try {
      const taken = await this.db.inTenant(tenantId, async (tx) => {
        await readByIndexes(tx);
        await commitWithoutWaiting(tx);
        if (!(await takeTurnOf(tx, consumer, tenantId))) return undefined;
        return takeWaiting(tx, consumer, tenantId, names, { limit: EVENTS_MAX, after });
      });
      if (!taken) return false;
      if (taken.length > 0) this.noteEmptied(tenantId, taken, begunAt);
      // One that is there after all is found from the first position on.
      else if (isFound) this.emptied.delete(tenantId);
      let isOver = false;
      const takeFrom: TakeFrom<Tx> = async (tx, events) => {
        // Another process may have taken the same ones meanwhile; what it leaves comes before what is left here.
        isOver ||= !(await takeTurnOf(tx, consumer, tenantId));
        if (isOver) return false;
        const ids = events.map(({ id }) => id);
        await removeWaiting(tx, consumer, tenantId, ids);
        return true;
      };
      let left = taken.map((one) => this.toDelivery(one));
      while (left.length > 0 && !isOver && performance.now() - begunAt < LONG_MILLISECONDS)
        left = left.slice(await this.process(left, takeFrom));
      return taken.length > 0;
    } catch (error) {
      this.log.warn(
        { err: error, tenantId },
        'the turn of a tenant at its waiting events failed; will retry',
      );
      restMin = RETRY_MILLISECONDS;
      return false;
    } finally {
      const took = performance.now() - begunAt;
      const rest = took >= LONG_MILLISECONDS ? took : restMin;
      if (rest > 0) this.restingUntil.set(tenantId, performance.now() + rest);
    }
  }

  private noteEmptied(tenantId: string, taken: readonly TakenEvent[], begunAt: number): void {
    const first = taken.find(({ isUntried }) => isUntried);
    if (!first) return;
    const { upTo = 0n, soon } = this.emptied.get(tenantId) ?? {};
    const isSoon = soon && BigInt(first.oldest) < soon.before && begunAt - soon.at < STORING_MILLISECONDS_MAX;
    if (isSoon) return;
    const before = first.position - 1n;
    this.emptied.set(tenantId, {
      upTo: soon ? least(soon.upTo, before) : upTo,
      soon: { upTo: before, before: BigInt(first.next), at: performance.now() },
    });
  }

  private toDelivery({ event, attempts }: WaitingEvent): Delivery {
    const { consumer } = this;
    const { tenantId } = event;
    return {
      event,
      bytes: 0,
      deliveryCount: attempts,
      // It was removed in the transaction of its effect.
      ack: () => undefined,
      nak: (milliseconds) =>
        this.db.inTenant(tenantId, (tx) => postponeWaiting(tx, consumer, event, milliseconds)),
      // Unless the dead letter was removed again, as where the database failed. Whoever processes the event locks it first, too.
      term: () =>
        this.db.inTenant(tenantId, async (tx) => {
          await lockWaiting(tx, consumer, event);
          if (await lockDeadLetter(tx, consumer, tenantId, event.id))
            await removeWaiting(tx, consumer, tenantId, [event.id]);
        }),
    };
  }
}

/** A tenant of which events wait, and when the first of them is due, as `performance.now()` tells it. */
interface WaitingSince {
  tenantId: string;
  dueAt: number;
}

const least = (one: bigint, other: bigint): bigint => (one < other ? one : other);
