import type { ServerResponse } from 'node:http';
import { FairShares, type ShareOwner, type ShareScope } from '@plinth/kernel/fair-shares';
import { Gauge, type Registry } from 'prom-client';

const METRIC = 'plinth_buffered_bytes';

/** The bytes of bodies that the requests of a process hold in memory together, shared fairly between their callers. */
export class ByteBudget {
  private readonly shares: FairShares;

  constructor(bytesMax: number) {
    this.shares = new FairShares(bytesMax);
  }

  /** Begins the reservation of one request. */
  reserve(owner: ShareOwner): ByteReservation {
    return new ByteReservation(this.shares, owner);
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
    private readonly owner: ShareOwner,
  ) {}

  /** Reserves more bytes; where there is no room for them, returns whose share is used up. */
  grow(bytes: number): ShareScope | undefined {
    const refusal = this.shares.take(this.owner, bytes);
    if (!refusal) this.bytes += bytes;
    return refusal;
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

/** Shows operators how much of each budget is used. */
export function measureBytes(metrics: Registry, budgets: Record<string, ByteBudget>): void {
  if (metrics.getSingleMetric(METRIC)) return;
  new Gauge({
    name: METRIC,
    help: 'Bytes of bodies and of responses that are held in memory.',
    labelNames: ['of'],
    registers: [metrics],
    collect() {
      for (const [of, { usedBytes }] of Object.entries(budgets)) this.set({ of }, usedBytes);
    },
  });
}
