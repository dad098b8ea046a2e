import type { EventEmitter } from 'node:events';
import type { Clock } from '@plinth/kernel/clock';
import type { ShareOwner, ShareScope } from '@plinth/kernel/fair-shares';
import { Problem } from '@plinth/kernel/problem';
import { FairPlaces } from '@plinth/runtime/process/fair-places';
import { shareUsedUp } from '@plinth/contracts/platform/problems';

export interface RequestTurnsOptions {
  /** How many requests have their turn at the same time. */
  count: number;
  /** Who takes longer leaves its turn to the next, and goes on; while the service is busy, who takes ten times longer. */
  turnMilliseconds: number;
  /** Whether the service has no time for more than it has got. */
  isBusy?: () => boolean;
  /** Beyond so many waiting ones requests are refused; without it, whoever admitted them limits how many wait. */
  waitingMax?: number;
}

/**
 * How many times the free turns a tenant may have while the service is busy: three of twelve. A request has a handful of
 * steps there, each of which comes behind a step of every other request; and three at a time keep it as busy as many. While
 * it is not busy, its requests wait for something else, and a tenant may have half of the turns.
 */
const TIMES_FREE_WHILE_BUSY = 1 / 3;

/** So many times longer a turn lasts at most while the service is busy. */
const TIMES_LONGER = 10;

/** Tenants share a service from the request of another tenant until so long after the last one. */
const SHARED_MILLISECONDS = 10_000;

const nothing = (): void => undefined;

/**
 * Turns of the requests to one service while several tenants use it. A service works for all requests it has got at the
 * same time, so a small one is served as late as the hundred of another tenant that came before it. Here they wait
 * outside instead, where tenants take turns, and the service has only as many as keep it busy. A request that waits for
 * something else than the service's processor holds up nobody, and a tenant that is alone does not wait. ADR 0042.
 */
export class RequestTurns {
  readonly places: FairPlaces;
  private latestTenantId: string | undefined;
  private sharedUntil = -Infinity;

  constructor(
    private readonly options: RequestTurnsOptions,
    private readonly clock: Clock,
  ) {
    const { count, waitingMax = Infinity } = options;
    const timesFree = (): number => (this.isBusy() ? TIMES_FREE_WHILE_BUSY : 1);
    const refused = (scope: ShareScope) => shareUsedUp(scope, 'large requests');
    this.places = new FairPlaces({ places: count, timesFree, waitingMax, refused });
  }

  /**
   * Waits for the turn of a request, where it has to wait; the result ends it.
   * @param client its response, whose `close` gives the waiting up
   * @throws Problem `timed-out` where the client disconnected, `share-used-up` or `overloaded` where too many wait
   */
  begin(owner: ShareOwner, client?: EventEmitter): (() => void) | Promise<() => void> {
    if (!this.isShared(owner)) return nothing;
    return this.places.tryEnter(owner) ? this.take(owner) : this.wait(owner, client);
  }

  private isShared({ tenantId }: ShareOwner): boolean {
    const now = this.clock.now().getTime();
    const isOther = this.latestTenantId !== undefined && this.latestTenantId !== tenantId;
    this.latestTenantId = tenantId;
    if (isOther) this.sharedUntil = now + SHARED_MILLISECONDS;
    return now < this.sharedUntil;
  }

  private async wait(owner: ShareOwner, client: EventEmitter | undefined): Promise<() => void> {
    const waiting = new AbortController();
    const giveUp = (): void =>
      waiting.abort(
        new Problem('timed-out', 'The client disconnected before it was the turn of its request.'),
      );
    client?.once('close', giveUp);
    try {
      await this.places.wait(owner, waiting.signal);
    } finally {
      client?.off('close', giveUp);
    }
    return this.take(owner);
  }

  private take(owner: ShareOwner): () => void {
    const end = (): void => {
      if (hasEnded) return;
      hasEnded = true;
      clearTimeout(timer);
      this.places.leave(owner);
    };
    let looks = 0;
    // Where all requests take longer because there are too many of them in the service, more would only make it worse.
    const look = (): void => {
      if (++looks < TIMES_LONGER && this.isBusy()) timer.refresh();
      else end();
    };
    let hasEnded = false;
    const timer = setTimeout(look, this.options.turnMilliseconds);
    return end;
  }

  private isBusy(): boolean {
    return this.options.isBusy?.() ?? false;
  }
}
