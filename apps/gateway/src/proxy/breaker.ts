import type { Clock } from '@plinth/kernel/clock';

export type BreakerState = 'closed' | 'open' | 'half-open';

export interface BreakerSettings {
  /** So many failures in a row open the breaker. */
  failuresMax: number;
  /** So long nothing is sent; then one request tries. */
  openMilliseconds: number;
}

/** Spares a service that does not answer, and its clients the waiting. */
export class Breaker {
  private failures = 0;
  private openedAt: number | undefined;
  private trying = false;

  constructor(
    private readonly settings: BreakerSettings,
    private readonly clock: Clock,
  ) {}

  get state(): BreakerState {
    if (this.openedAt === undefined) return 'closed';
    return this.clock.now().getTime() - this.openedAt < this.settings.openMilliseconds ? 'open' : 'half-open';
  }

  /** Whether a request may be sent now. Who is let through says how it ended. */
  admits(): boolean {
    const { state } = this;
    if (state === 'closed') return true;
    if (state === 'open' || this.trying) return false;
    this.trying = true;
    return true;
  }

  succeeded(): void {
    this.failures = 0;
    this.openedAt = undefined;
    this.trying = false;
  }

  failed(): void {
    this.failures += 1;
    this.trying = false;
    if (this.failures >= this.settings.failuresMax) this.openedAt = this.clock.now().getTime();
  }

  /** The request ended without telling anything about the service, such as by the client going away. */
  abandoned(): void {
    this.trying = false;
  }
}
