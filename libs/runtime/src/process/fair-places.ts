import { setImmediate } from 'node:timers/promises';
import {
  FairShares,
  type FairSharesOptions,
  type ShareOwner,
  type ShareScope,
} from '@plinth/kernel/fair-shares';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

export interface FairPlacesOptions {
  /** How many work at the same time. */
  places: number;
  /** How many times the free places a tenant may work in; see `FairShares`. */
  timesFree?: FairSharesOptions['timesFree'];
  /** How many may wait for a place. */
  waitingMax: number;
  /** How long one waits at most; without it, as long as it takes. */
  patienceMilliseconds?: number;
  /**
   * How long a place is kept for a tenant who has left one, where another works in several: who works now and then would
   * come beside as many as that one can have. Half of the places at most are kept so. Without it, none is.
   */
  keptMilliseconds?: number;
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
  /** Tenants that take no place until all of their rests are over. */
  private readonly rests = new Map<string, Promise<unknown>>();
  /** When tenants left a place last, in that order. */
  private readonly leftAt = new Map<string, number>();
  /** Runs until a place is kept no longer that somebody was refused. */
  private keeping: NodeJS.Timeout | undefined;
  private readonly refusals = new Map<ShareScope, number>();
  private onWaited: ((seconds: number) => void) | undefined;

  constructor(private readonly options: FairPlacesOptions) {
    // Users take turns, so that a user alone may have all places of the tenant.
    this.running = new FairShares(options.places, { limitsUsers: false, timesFree: options.timesFree });
    this.queued = new FairShares(options.waitingMax);
  }

  /**
   * Waits for a place, and works in it.
   * @param signal gives the waiting up; the work itself has to heed it
   * @param patienceMilliseconds how long to wait, where that is not the same for all
   * @throws the problem `refused` where too many are waiting or it waited too long, the reason of the signal, and what the
   * work throws
   */
  async run<Result>(
    owner: ShareOwner,
    work: () => Promise<Result>,
    signal?: AbortSignal,
    patienceMilliseconds?: number,
  ): Promise<Result> {
    signal?.throwIfAborted();
    if (!this.tryEnter(owner)) await this.wait(owner, signal, patienceMilliseconds);
    try {
      return await work();
    } finally {
      this.leave(owner);
    }
  }

  /** Takes a place where there is one at once; who took it leaves it. `run` does both. */
  tryEnter(owner: ShareOwner): boolean {
    const isHeldBack = this.rests.has(owner.tenantId) || this.isKeptForOthers(owner.tenantId);
    if (isHeldBack || this.running.take(owner) !== undefined) return false;
    this.begunCount++;
    this.lastBegun.set(owner.tenantId, this.begunCount).set(userKey(owner), this.begunCount);
    return true;
  }

  /** Gives a place back, to whoever is next. */
  leave(owner: ShareOwner): void {
    this.running.give(owner);
    if (this.options.keptMilliseconds !== undefined) {
      this.leftAt.delete(owner.tenantId);
      this.leftAt.set(owner.tenantId, performance.now());
      this.forgetWhoLeft(this.options.keptMilliseconds);
    }
    this.forget(owner);
    this.beginNext();
  }

  /** Whether a tenant has all places that are not kept for others; those that are kept no longer are taken then. */
  private isKeptForOthers(tenantId: string): boolean {
    const { running } = this;
    const { places, keptMilliseconds } = this.options;
    if (keptMilliseconds === undefined || running.usedByTenant(tenantId) === 0) return false;
    this.forgetWhoLeft(keptMilliseconds);
    const absent = [...this.leftAt.keys()].filter((id) => running.usedByTenant(id) === 0).length;
    const kept = Math.min(absent, Math.floor(places / 2));
    const isKept = kept > 0 && !running.mayTakeOne(tenantId, running.freeAmount - kept);
    if (isKept) this.beginNextAfterKeeping(keptMilliseconds);
    return isKept;
  }

  /** Whoever waits has a place before those who come after it is kept no longer. */
  private beginNextAfterKeeping(keptMilliseconds: number): void {
    const [oldest = 0] = this.leftAt.values();
    const begin = () => {
      this.keeping = undefined;
      this.beginNext();
    };
    this.keeping ??= setTimeout(begin, oldest + keptMilliseconds - performance.now()).unref();
  }

  /** Forgets those who left longer ago than a place is kept. */
  private forgetWhoLeft(keptMilliseconds: number): void {
    const since = performance.now() - keptMilliseconds;
    for (const [tenantId, at] of this.leftAt) {
      if (at >= since) return;
      this.leftAt.delete(tenantId);
    }
  }

  /**
   * Has a tenant take no place until a promise is settled, and those of its former rests; meanwhile its places are free for
   * others.
   */
  rest(tenantId: string, rest: Promise<void>): void {
    const all = Promise.allSettled([this.rests.get(tenantId), rest]);
    this.rests.set(tenantId, all);
    void all.then(() => {
      if (this.rests.get(tenantId) !== all) return;
      this.rests.delete(tenantId);
      this.beginNext();
    });
  }

  /** Settles when a tenant may take places again. */
  async rested(tenantId: string): Promise<void> {
    await this.rests.get(tenantId);
  }

  /**
   * Whether somebody waits who would have more right to a place of this owner: of the same tenant, of one who works in
   * fewer, or whoever could take it once it is free. A tenant that has all it may have waits for nobody else's.
   */
  isWaitedFor({ tenantId }: Pick<ShareOwner, 'tenantId'>): boolean {
    const { running } = this;
    const used = running.usedByTenant(tenantId);
    const freeThen = running.freeAmount + 1;
    return [...this.waiting.keys()].some(
      (id) => id === tenantId || running.usedByTenant(id) < used || running.mayTakeOne(id, freeThen),
    );
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

  /** Tells how long each waited who had to, whether it got a place or not. */
  observeWaits(onWaited: (seconds: number) => void): void {
    this.onWaited = onWaited;
  }

  /**
   * Waits for a place until one is taken.
   * @throws the problem `refused`, or the reason of the signal
   */
  async wait(
    owner: ShareOwner,
    signal?: AbortSignal,
    patienceMilliseconds = this.options.patienceMilliseconds,
  ): Promise<void> {
    signal?.throwIfAborted();
    const refusal = this.queued.take(owner);
    if (refusal) throw this.refuse(refusal);
    const since = performance.now();
    return new Promise((resolve, reject) => {
      const stopWaiting = (): void => {
        clearTimeout(patience);
        signal?.removeEventListener('abort', giveUp);
        this.dequeue(waiting);
        this.queued.give(owner);
        this.forget(owner);
        this.onWaited?.((performance.now() - since) / 1_000);
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

interface MeasuredPlaces {
  /** Several of one name, such as those of two clients of one service, are shown together. */
  byName: Map<string, FairPlaces[]>;
  waits: Histogram<'places'>;
}

const measured = new WeakMap<Registry, MeasuredPlaces>();

/** Shows operators how many work and wait in each kind of places, for how long they wait, and how many were refused. */
export function measurePlaces(metrics: Registry, places: Record<string, FairPlaces>): void {
  const { byName, waits } = measured.get(metrics) ?? startMeasuring(metrics);
  for (const [name, one] of Object.entries(places)) {
    byName.set(name, [...(byName.get(name) ?? []), one]);
    one.observeWaits((seconds) => waits.observe({ places: name }, seconds));
  }
}

function startMeasuring(metrics: Registry): MeasuredPlaces {
  const byName: MeasuredPlaces['byName'] = new Map();
  const registers = [metrics];
  const labelNames = ['places'] as const;
  const gauge = (name: string, help: string, valueOf: (places: FairPlaces) => number) =>
    new Gauge({
      name,
      help,
      labelNames,
      registers,
      collect() {
        for (const [name, all] of byName)
          this.set(
            { places: name },
            all.reduce((sum, one) => sum + valueOf(one), 0),
          );
      },
    });
  gauge('plinth_places_taken', 'Work that runs in a shared place.', ({ runningCount }) => runningCount);
  gauge('plinth_places_waiting', 'Work that waits for a shared place.', ({ waitingCount }) => waitingCount);
  new Counter({
    name: 'plinth_places_refused_total',
    help: 'Work that was refused because too much was waiting or it waited too long, by whose share was used up.',
    labelNames: ['places', 'scope'],
    registers,
    collect() {
      this.reset();
      for (const [name, all] of byName)
        for (const { refusedCounts } of all)
          for (const [scope, count] of refusedCounts) this.inc({ places: name, scope }, count);
    },
  });
  const waits = new Histogram({
    name: 'plinth_places_wait_seconds',
    help: 'How long work waited for a shared place, of that which had to.',
    labelNames,
    buckets: [0.01, 0.1, 0.5, 1, 2.5, 5, 10, 30],
    registers,
  });
  const all = { byName, waits };
  measured.set(metrics, all);
  return all;
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
