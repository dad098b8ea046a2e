import { setImmediate } from 'node:timers/promises';
import {
  FairShares,
  type FairSharesOptions,
  type ShareOwner,
  type ShareScope,
} from '@plinth/kernel/fair-shares';
import { Counter, Gauge, type Registry } from 'prom-client';

export interface FairPlacesOptions {
  /** How many work at the same time. */
  places: number;
  /** How many times the free places a tenant may work in; see `FairShares`. */
  timesFree?: FairSharesOptions['timesFree'];
  /** How many may wait for a place. */
  waitingMax: number;
  /** How long one waits at most; without it, as long as it takes. */
  patienceMilliseconds?: number;
  /** The problem of a caller for whom there is not even room to wait, or who waited too long. */
  refused: (scope: ShareScope) => Error;
}

interface Waiting {
  owner: ShareOwner;
  begin: () => void;
}

/**
 * Places for work that takes something scarce: a page of a browser, a process, a connection. A tenant works in at most as
 * many places as are free, so that one who takes all it can leaves a place for the next; whatever is beyond that waits. A
 * free place goes to the tenant, and in it to the user, who works in the fewest; between equals in turn.
 */
export class FairPlaces {
  private readonly running: FairShares;
  private readonly queued: FairShares;
  /** In the order of their coming, by tenant and user. */
  private readonly waiting = new Map<string, Map<string, Waiting[]>>();
  /** When a tenant or user who is here began to work last, as a number that grows. */
  private readonly lastBegun = new Map<string, number>();
  private begunCount = 0;
  /** Tenants that take no place until their last rest is over. */
  private readonly rests = new Map<string, Promise<void>>();
  private readonly refusals = new Map<ShareScope, number>();

  constructor(private readonly options: FairPlacesOptions) {
    // Users take turns, so that a user alone may have all places of the tenant.
    this.running = new FairShares(options.places, { limitsUsers: false, timesFree: options.timesFree });
    this.queued = new FairShares(options.waitingMax);
  }

  /**
   * Waits for a place, and works in it.
   * @param signal gives the waiting up; the work itself has to heed it
   * @throws the problem `refused` where too many are waiting, the reason of the signal, and what the work throws
   */
  async run<Result>(owner: ShareOwner, work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    signal?.throwIfAborted();
    if (!this.tryEnter(owner)) await this.wait(owner, signal);
    try {
      return await work();
    } finally {
      this.leave(owner);
    }
  }

  /** Takes a place where there is one at once; who took it leaves it. `run` does both. */
  tryEnter(owner: ShareOwner): boolean {
    if (this.rests.has(owner.tenantId) || this.running.take(owner) !== undefined) return false;
    this.begunCount++;
    this.lastBegun.set(owner.tenantId, this.begunCount).set(userKey(owner), this.begunCount);
    return true;
  }

  /** Gives a place back, to whoever is next. */
  leave(owner: ShareOwner): void {
    this.running.give(owner);
    this.forget(owner);
    this.beginNext();
  }

  /** Has a tenant take no place until a promise is settled; meanwhile its places are free for others. */
  rest(tenantId: string, rest: Promise<void>): void {
    this.rests.set(tenantId, rest);
    const end = () => {
      if (this.rests.get(tenantId) !== rest) return;
      this.rests.delete(tenantId);
      this.beginNext();
    };
    void rest.then(end, end);
  }

  get runningCount(): number {
    return this.running.usedAmount;
  }

  get waitingCount(): number {
    return this.queued.usedAmount;
  }

  /** How many were refused since the start, by whose share was used up. */
  get refusedCounts(): ReadonlyMap<ShareScope, number> {
    return this.refusals;
  }

  /**
   * Waits for a place until one is taken.
   * @throws the problem `refused`, or the reason of the signal
   */
  async wait(owner: ShareOwner, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    const refusal = this.queued.take(owner);
    if (refusal) throw this.refuse(refusal);
    const { patienceMilliseconds } = this.options;
    return new Promise((resolve, reject) => {
      const stopWaiting = (): void => {
        clearTimeout(patience);
        signal?.removeEventListener('abort', giveUp);
        this.dequeue(waiting);
        this.queued.give(owner);
        this.forget(owner);
      };
      const begin = (): void => {
        stopWaiting();
        resolve();
      };
      const giveUp = (): void => {
        stopWaiting();
        reject(signal!.reason as Error);
      };
      const losePatience = (): void => {
        const scope = this.running.usedAmount < this.options.places ? 'tenant' : 'all';
        stopWaiting();
        reject(this.refuse(scope));
      };
      const patience = patienceMilliseconds && setTimeout(losePatience, patienceMilliseconds);
      const waiting: Waiting = { owner, begin };
      this.enqueue(waiting);
      signal?.addEventListener('abort', giveUp, { once: true });
    });
  }

  private refuse(scope: ShareScope): Error {
    this.refusals.set(scope, (this.refusals.get(scope) ?? 0) + 1);
    return this.options.refused(scope);
  }

  private enqueue(waiting: Waiting): void {
    const { tenantId, userId } = waiting.owner;
    const ofTenant = this.waiting.get(tenantId) ?? new Map<string, Waiting[]>();
    const ofUser = ofTenant.get(userId) ?? [];
    ofUser.push(waiting);
    this.waiting.set(tenantId, ofTenant.set(userId, ofUser));
  }

  private dequeue(waiting: Waiting): void {
    const { tenantId, userId } = waiting.owner;
    const ofTenant = this.waiting.get(tenantId)!;
    const ofUser = ofTenant.get(userId)!;
    ofUser.splice(ofUser.indexOf(waiting), 1);
    if (ofUser.length === 0) ofTenant.delete(userId);
    if (ofTenant.size === 0) this.waiting.delete(tenantId);
  }

  private beginNext(): void {
    for (;;) {
      const next = this.next();
      if (!next || !this.tryEnter(next.owner)) return;
      next.begin();
    }
  }

  private next(): Waiting | undefined {
    const { running, lastBegun } = this;
    const begun = (key: string): number => lastBegun.get(key) ?? 0;
    const tenantId = firstOf(
      [...this.waiting.keys()].filter((id) => !this.rests.has(id)),
      (left, right) => running.usedByTenant(left) - running.usedByTenant(right) || begun(left) - begun(right),
    );
    if (tenantId === undefined) return undefined;
    const ofTenant = this.waiting.get(tenantId)!;
    const usedBy = (userId: string): number => running.usedByUser({ tenantId, userId });
    const begunBy = (userId: string): number => begun(userKey({ tenantId, userId }));
    const userId = firstOf(
      ofTenant.keys(),
      (left, right) => usedBy(left) - usedBy(right) || begunBy(left) - begunBy(right),
    );
    return ofTenant.get(userId!)![0];
  }

  /** Forgets who neither works nor waits. */
  private forget(owner: ShareOwner): void {
    const { running, queued, lastBegun } = this;
    if (running.usedByUser(owner) + queued.usedByUser(owner) === 0) lastBegun.delete(userKey(owner));
    const { tenantId } = owner;
    if (running.usedByTenant(tenantId) + queued.usedByTenant(tenantId) === 0) lastBegun.delete(tenantId);
  }
}

/** The key that comes first; of equals the one that was there before. */
function firstOf(
  keys: Iterable<string>,
  precedence: (left: string, right: string) => number,
): string | undefined {
  let first: string | undefined;
  for (const key of keys) if (first === undefined || precedence(key, first) < 0) first = key;
  return first;
}

const userKey = ({ tenantId, userId }: ShareOwner): string => `${tenantId}/${userId}`;

const measured = new WeakMap<Registry, Map<string, FairPlaces>>();

/** Shows operators how many work and wait in each kind of places, and how many were refused. */
export function measurePlaces(metrics: Registry, places: Record<string, FairPlaces>): void {
  const known = measured.get(metrics) ?? startMeasuring(metrics);
  for (const [name, one] of Object.entries(places)) known.set(name, one);
}

function startMeasuring(metrics: Registry): Map<string, FairPlaces> {
  const places = new Map<string, FairPlaces>();
  measured.set(metrics, places);
  const registers = [metrics];
  new Gauge({
    name: 'plinth_places_taken',
    help: 'Work that runs in a shared place.',
    labelNames: ['places'],
    registers,
    collect() {
      for (const [name, { runningCount }] of places) this.set({ places: name }, runningCount);
    },
  });
  new Gauge({
    name: 'plinth_places_waiting',
    help: 'Work that waits for a shared place.',
    labelNames: ['places'],
    registers,
    collect() {
      for (const [name, { waitingCount }] of places) this.set({ places: name }, waitingCount);
    },
  });
  new Counter({
    name: 'plinth_places_refused_total',
    help: 'Work that was refused because too much was waiting or it waited too long, by whose share was used up.',
    labelNames: ['places', 'scope'],
    registers,
    collect() {
      this.reset();
      for (const [name, { refusedCounts }] of places)
        for (const [scope, count] of refusedCounts) this.inc({ places: name, scope }, count);
    },
  });
  return places;
}

/**
 * Places at which any number may wait and nobody is refused: for the small steps of work that was admitted before.
 * @param count how many of these steps are taken at the same time
 */
export const turnsAt = (count: number): FairPlaces =>
  new FairPlaces({ places: count, waitingMax: Infinity, refused: () => new Error('Nobody is refused.') });

/**
 * Turns of the event loop for pieces of work that it cannot do in passing: one piece in each turn, and tenants take turns
 * at it. So however many have however much of it, everybody else in the process waits for one piece only. Who has such
 * work has been admitted, so nobody is refused here.
 */
export class EventLoopTurns {
  private readonly places = turnsAt(1);

  /** Does one piece of work in a turn of its owner. @throws what the work throws */
  take<Result>(owner: ShareOwner, work: () => Result): Promise<Result> {
    return this.places.run(owner, async () => {
      try {
        return work();
      } finally {
        await setImmediate();
      }
    });
  }

  /** Does work that comes in steps, one step in each turn. @returns what the work returns, and @throws what it throws */
  async takeEach<Result>(owner: ShareOwner, steps: Iterator<unknown, Result>): Promise<Result> {
    for (;;) {
      const { done, value } = await this.take(owner, () => steps.next());
      if (done) return value as Result;
    }
  }
}
