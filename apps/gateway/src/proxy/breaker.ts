import type { Clock } from '@plinth/kernel/clock';

export type BreakerState = 'Closed' | 'HalfOpen' | 'Open';

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
  private succeededAt = -Infinity;
  /** When the request that is tried now was sent. */
  private tryingSince: number | undefined;

  constructor(
    private readonly settings: BreakerSettings,
    private readonly clock: Clock,
  ) {}

  get state(): BreakerState {
    if (this.openedAt === undefined) return 'Closed';
    return this.clock.now().getTime() - this.openedAt < this.settings.openMilliseconds ? 'Open' : 'HalfOpen';
  }

  /** Whether a request may be sent now. Its sender reports how it ended. */
  admits(): boolean {
    const { state } = this;
    if (state === 'Closed') return true;
    if (state === 'Open' || this.isTrying()) return false;
    this.tryingSince = this.clock.now().getTime();
    return true;
  }

  succeeded(): void {
    this.succeededAt = this.clock.now().getTime();
    this.failures = 0;
    this.openedAt = undefined;
    this.tryingSince = undefined;
  }

  failed(): void {
    this.failures += 1;
    this.tryingSince = undefined;
    if (this.failures >= this.settings.failuresMax) this.openedAt = this.clock.now().getTime();
  }

  /** A request took too long. That says nothing about a service that has responded to another one meanwhile. */
  timedOut(sentAt: Date): void {
    if (this.succeededAt >= sentAt.getTime()) this.abandoned();
    else this.failed();
  }

  /** The end of the request says nothing about the service, such as when the client disconnected. */
  abandoned(): void {
    this.tryingSince = undefined;
  }

  /** One that lasts, such as an upload, must not keep all others out until it ends. */
  private isTrying(): boolean {
    const { tryingSince, settings, clock } = this;
    return tryingSince !== undefined && clock.now().getTime() - tryingSince < settings.openMilliseconds;
  }
}
