import { BoundedMap } from '@plinth/kernel/bounded-map';
import { commitWithoutWaiting } from '../postgres/commit-without-waiting';
import type { RawStatements, TenantDatabase } from '../postgres/postgres';
import { readByIndexes } from '../postgres/read-by-indexes';
import { backgroundTask, type BackgroundTask } from '../process/background-task';
import type { Log } from '../process/log';
import type { Delivery, TakeFrom } from './delivery';
import {
  findWaitingTenants,
  postponeWaiting,
  removeWaiting,
  takeTurnOf,
  takeWaiting,
  type WaitingEvent,
} from './waiting-events';

/** Events of one turn. */
const EVENTS_MAX = 16;
/** Finds what another process left that died. */
const INTERVAL_MILLISECONDS = 10_000;
/** After the database failed, for a tenant or for all. */
const RETRY_MILLISECONDS = 1_000;
/** A turn ends when it took longer, such as one that waited for a lock, and is followed by a rest as long. */
const LONG_MILLISECONDS = 3_000;
const RESTING_MAX = 10_000;
/** After that a process looks whether the turns that others had are over. */
const ELSEWHERE_MILLISECONDS = 200;

/**
 * Tenants take turns at their stored events: in each round every tenant of which some are due has one turn, in one process
 * at a time. All that is known between rounds is in the database.
 */
export class TenantTurns<Tx extends RawStatements> {
  private task?: BackgroundTask;
  private isClosed = false;
  private timer?: NodeJS.Timeout;
  /** Until when tenants have no turn here whose last one failed or took long, so that others do not wait for it again. */
  private readonly restingUntil = new BoundedMap<string, number>(RESTING_MAX);

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
  ) {}

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
    const { consumer, names } = this;
    const waiting = await this.db.inPlatform(async (tx) => {
      await readByIndexes(tx);
      return findWaitingTenants(tx, consumer, names);
    });
    let isAnyTaken = false;
    let pause = Infinity;
    for (const { tenantId, dueInMilliseconds } of waiting) {
      if (this.isClosed) return false;
      const delay = Math.max(dueInMilliseconds, this.restOf(tenantId));
      if (delay > 0) pause = Math.min(pause, delay);
      else if (await this.takeTurn(tenantId)) isAnyTaken = true;
      else pause = Math.min(pause, ELSEWHERE_MILLISECONDS);
    }
    clearTimeout(this.timer);
    if (pause < Infinity) this.timer = setTimeout(() => this.wake(), pause).unref();
    return isAnyTaken;
  }

  private restOf(tenantId: string): number {
    const rest = (this.restingUntil.get(tenantId) ?? 0) - performance.now();
    if (rest <= 0) this.restingUntil.delete(tenantId);
    return rest;
  }

  /** Processes the oldest due events of a tenant; returns whether there were any and no other process had its turn. */
  private async takeTurn(tenantId: string): Promise<boolean> {
    const { consumer, names } = this;
    const begunAt = performance.now();
    let restMin = 0;
    try {
      const taken = await this.db.inTenant(tenantId, async (tx) => {
        await readByIndexes(tx);
        await commitWithoutWaiting(tx);
        if (!(await takeTurnOf(tx, consumer, tenantId))) return [];
        return takeWaiting(tx, consumer, tenantId, names, EVENTS_MAX);
      });
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
      term: () => this.db.inTenant(tenantId, (tx) => removeWaiting(tx, consumer, tenantId, [event.id])),
    };
  }
}
