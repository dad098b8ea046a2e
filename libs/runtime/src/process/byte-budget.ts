import type { ServerResponse } from 'node:http';
import {
  FairShares,
  type FairSharesOptions,
  type ShareOwner,
  type ShareScope,
} from '@plinth/kernel/fair-shares';
import { Gauge, type Registry } from 'prom-client';
import { EventLoopTurns } from './fair-places';
import { watchRate, type LeastRate } from './least-rate';

/** What a process does with so many bytes of a body, everybody else may wait for. */
export const SMALL_BYTES_MAX = 64 * 1024;

/** How many bytes a text takes in memory: two for each character, or one where all of them are of Latin-1. */
export const heldBytes = (text: string): number => (/[^\0-\xff]/.test(text) ? 2 : 1) * text.length;

/**
 * How fast a response has to be read while others are refused the bytes that it holds, as uploads that others wait for have
 * to come. Not less: what the buffers of a connection take at once may be more than a megabyte, also where it is slow.
 */
const READING_RATE: LeastRate = { bytes: 4 * 1024 * 1024, milliseconds: 60_000 };

/** Bytes that a process holds, such as those of the bodies of its requests in memory, shared fairly between its callers. */
export class ByteBudget {
  private readonly shares: FairShares;
  private readonly turns = new EventLoopTurns();
  /** What is held until clients have read their responses. */
  private readonly beingRead = new Set<ByteReservation>();

  /** @param bytesMax how many there are for all together */
  constructor(
    readonly bytesMax: number,
    options: FairSharesOptions = {},
  ) {
    this.shares = new FairShares(bytesMax, options);
  }

  /** Begins the reservation of one request. */
  reserve(owner: ShareOwner): ByteReservation {
    return new ByteReservation(this.shares, this.turns, owner, this.beingRead);
  }

  get usedBytes(): number {
    return this.shares.usedAmount;
  }
}

/** What one request holds of a budget. */
export class ByteReservation {
  private bytes = 0;
  /** When somebody else was last refused for want of what this holds. */
  private wantedAt = -Infinity;

  constructor(
    private readonly shares: FairShares,
    private readonly turns: EventLoopTurns,
    private readonly owner: ShareOwner,
    private readonly beingRead: Set<ByteReservation>,
  ) {}

  /** How many bytes one thing may take that its client may keep for long: with all of them it would shut out everybody. */
  get singleMax(): number {
    return Math.floor(this.shares.total / 2);
  }

  /** Reserves more bytes; where there is no room for them, returns whose share is used up. */
  grow(bytes: number): ShareScope | undefined {
    const refusal = this.shares.take(this.owner, bytes, this.bytes);
    if (refusal) for (const one of this.beingRead) one.noteRefusal(refusal, this.owner);
    else this.bytes += bytes;
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

  /**
   * Gives everything back once the response is sent, or now where its connection is closed. A response that is read too
   * slowly while others are refused is ended.
   */
  releaseAfter(response: ServerResponse): void {
    if (response.closed) return this.release();
    if (this.bytes === 0) return;
    const waiting = () => response.socket?.writableLength ?? 0;
    const reading = {
      bytesArrived: () => (response.socket?.bytesWritten ?? 0) - waiting(),
      // The client has all that there was to send until now.
      isHeld: () => waiting() === 0,
      isWaitedFor: () => Date.now() - this.wantedAt <= READING_RATE.milliseconds,
    };
    this.beingRead.add(this);
    const endWatch = watchRate(READING_RATE, reading, () => response.destroy());
    response.once('close', () => {
      endWatch();
      this.beingRead.delete(this);
      this.release();
    });
  }

  /** Who has used up a share of its own waits for itself, but for a network, in which many may read. */
  private noteRefusal(scope: ShareScope, refused: ShareOwner): void {
    const isOfTenant = refused.tenantId === this.owner.tenantId;
    const isOfUser = isOfTenant && refused.userId === this.owner.userId;
    const isWanted = scope === 'all' || (scope === 'tenant' && isOfTenant);
    if (isOfUser ? this.owner.tenantId === '' : isWanted) this.wantedAt = Date.now();
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
    help: 'Bytes of bodies, of responses and of messages between services in memory, and of the files of workbooks.',
    labelNames: ['of'],
    registers: [metrics],
    collect() {
      for (const [of, { usedBytes }] of all) this.set({ of }, usedBytes);
    },
  });
}
