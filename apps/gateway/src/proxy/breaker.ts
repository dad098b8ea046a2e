import type { Clock } from '@plinth/kernel/clock';

export type BreakerState = 'closed' | 'open' | 'half-open';

export interface BreakerSettings {
  /** Number of consecutive failures that open the breaker. */
  failuresMax: number;
  /** How long nothing is sent; then a single request is tried. */
  openMilliseconds: number;
}

/** Circuit breaker: refuses requests to a service that does not respond, instead of letting clients wait. */
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

  /** Whether a request may be sent now. Its sender reports how it ended. */
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

  /** The end of the request says nothing about the service, such as when the client disconnected. */
  abandoned(): void {
    this.trying = false;
  }
}
