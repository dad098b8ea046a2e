import type { ServerResponse } from 'node:http';
import { FairShares, type ShareOwner, type ShareScope } from '@plinth/kernel/fair-shares';
import { Gauge, type Registry } from 'prom-client';
import { EventLoopTurns } from './fair-places';

/** What a process does with so many bytes of a body, everybody else may wait for. */
export const SMALL_BYTES_MAX = 64 * 1024;

/** How many bytes a text takes in memory: two for each character, or one where all of them are of Latin-1. */
export const heldBytes = (text: string): number => (/[^\0-\xff]/.test(text) ? 2 : 1) * text.length;

/** The bytes of bodies that the requests of a process hold in memory together, shared fairly between their callers. */
export class ByteBudget {
  private readonly shares: FairShares;
  private readonly turns = new EventLoopTurns();

  constructor(bytesMax: number) {
    this.shares = new FairShares(bytesMax);
  }

  /** Begins the reservation of one request. */
  reserve(owner: ShareOwner): ByteReservation {
    return new ByteReservation(this.shares, this.turns, owner);
  }

  get usedBytes(): number {
    return this.shares.usedAmount;
  }
}

/** What one request holds of a budget. */
export class ByteReservation {
  private bytes = 0;

  constructor(
    private readonly shares: FairShares,
    private readonly turns: EventLoopTurns,
    private readonly owner: ShareOwner,
  ) {}

  /** Reserves more bytes; where there is no room for them, returns whose share is used up. */
  grow(bytes: number): ShareScope | undefined {
    const refusal = this.shares.take(this.owner, bytes, this.bytes);
    if (!refusal) this.bytes += bytes;
    return refusal;
  }

  /** Reserves so many bytes in all, and no fewer than before; where there is no room for them, as `grow`. */
  growTo(bytes: number): ShareScope | undefined {
    return bytes > this.bytes ? this.grow(bytes - this.bytes) : undefined;
  }

  /**
   * Works with a body: at once with a small one, and with a large one in a turn of its owner, so that large bodies of one
   * tenant do not hold up small ones of all.
   */
  async inTurn<Result>(work: () => Result, bytes = this.bytes): Promise<Result> {
    return bytes <= SMALL_BYTES_MAX ? work() : this.turns.take(this.owner, work);
  }

  /** Gives everything back. */
  release(): void {
    if (this.bytes > 0) this.shares.give(this.owner, this.bytes);
    this.bytes = 0;
  }

  /** Gives everything back once the response is sent, or now where its connection is closed. */
  releaseAfter(response: ServerResponse): void {
    if (response.closed) this.release();
    else if (this.bytes > 0) response.once('close', () => this.release());
  }
}

const measured = new WeakMap<Registry, Map<string, ByteBudget>>();

/** Shows operators how much of each budget is used. */
export function measureBytes(metrics: Registry, budgets: Record<string, ByteBudget>): void {
  const all = measured.get(metrics) ?? new Map<string, ByteBudget>();
  for (const [of, budget] of Object.entries(budgets)) all.set(of, budget);
  if (measured.has(metrics)) return;
  measured.set(metrics, all);
  new Gauge({
    name: 'plinth_buffered_bytes',
    help: 'Bytes of bodies, of responses and of messages between services that are held in memory.',
    labelNames: ['of'],
    registers: [metrics],
    collect() {
      for (const [of, { usedBytes }] of all) this.set({ of }, usedBytes);
    },
  });
}
