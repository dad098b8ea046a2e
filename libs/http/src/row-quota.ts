import { setTimeout as sleep } from 'node:timers/promises';
import { quotaExceeded } from '@plinth/contracts/platform/problems';
import { BoundedMap } from '@plinth/kernel/bounded-map';
import { onCommit, onRollback } from '@plinth/runtime/postgres/beside-transaction';
import type { RawStatements, TenantDatabase } from '@plinth/runtime/postgres/postgres';
import { forPlatform } from '@plinth/runtime/process/current-work';
import { unavailable, type Problem } from '@plinth/kernel/problem';
import type { Log } from '@plinth/runtime/process/log';
import type { Registry } from 'prom-client';
import { quotaRefusals } from './quota-refusals';

/** A tenant's rows are counted again when this process has added a tenth of the room they left, but at least so many. */
const ADDED_ROWS_MIN = 1_000;
const COUNT_MILLISECONDS_MIN = 60_000;
/** After a count that failed. */
const RECOUNT_MILLISECONDS = 5_000;
/** A count that took long is followed by so many times as long without one: all processes count, and for other tenants too. */
const PAUSE_OF_COUNT = 10;
const PAUSE_MILLISECONDS_MAX = 600_000;
/** Who refuses for good waits for so much of it, and is told that nobody knows where it is longer. */
const PAUSE_MILLISECONDS_WAITED = 5_000;
/** Where too little room could be made, it is not tried again for so long, nor behind a long count. */
const ROOMLESS_MILLISECONDS = 10_000;
const TENANTS_MAX = 10_000;
const ATTEMPTS_MAX = 10_000;

export interface RowQuotaDeps {
  db: Pick<TenantDatabase<RawStatements>, 'inTenant'>;
  log: Log;
  metrics: Registry;
  /** A table with `tenant_id`. */
  table: string;
  /** Which of its rows are limited, as a condition of SQL; all of them without it. */
  where?: string;
  /** Its name in the problem, in kebab-case. */
  quota: string;
  /** In plural, for the detail. */
  what: string;
  limit: number;
  /** What is limited instead of the number of rows, as an aggregate of SQL; `rows` are units of it then. */
  measure?: string;
  /** How many may be added before the first count, where a tenth of the limit is less: what one request adds; 1,000 rows. */
  uncountedMin?: number;
  /** How old a count may be where requests are asked for room that others write, such as workers; any age without it. */
  countedMillisecondsMax?: number;
  /**
   * Removes rows of a tenant that it can spare, about so many where there are; they are counted again then. Called in the
   * background where a request was refused that has no room by a count of then either, and not soon again where there were
   * too few. A dry-run removes nothing.
   */
  makeRoom?: (tenantId: string, rows: number) => Promise<void>;
  now?: () => number;
}

/** An attempt at an import whose rows need room. */
export interface ImportAttempt {
  jobId: string;
  isDryRun?: boolean;
}

/** What one import asks a quota, whose rows are refused for good. */
export interface QuotaOfImport {
  /** Waits for a count where by what is known so many together could not be taken. Call it outside of transactions. */
  whenKnown(tenantId: string, rows: number): Promise<void>;
  /** Takes room, or says that there is none. @throws Problem `overloaded` where no count says so that began after the import */
  tryTake(tenantId: string, rows: number): boolean;
  /** The same without taking it, for rows that need room in several quotas or none. */
  hasRoom(tenantId: string, rows: number): boolean;
  giveBack(tenantId: string, rows: number): void;
}

/** What a process knows of a tenant's rows. */
interface Usage {
  counted: number;
  /** By this process, since they were counted. */
  added: number;
  /** How many of these by transactions that have not ended. */
  uncommitted: number;
  isCounted: boolean;
  /** The last count of them, which may be waiting for those of other tenants. */
  count: Promise<void>;
  /** When the count began that is known. */
  countedAt: number;
  countableAt: number;
  /** The same for a count that somebody waits for. */
  countableForWaitingAt: number;
  /** How many rows the largest transaction needs that was refused, and for which room is to be made. */
  wanted: number;
  /** When too little room could be made, the last time. */
  roomlessAt: number;
}

/**
 * How many rows of one table a tenant may have. A process adds what it writes to what it counted last, and counts again in
 * the background, one tenant after the other; nobody waits for it but who refuses for good (`whenKnown`, `hasRoomNow`). What
 * other processes write meanwhile, and what is written before the first count, goes beyond the quota: a tenth of it at most,
 * or `uncountedMin`. A process that cannot count the rows of a tenant then takes no more of them, as nobody knows whether
 * they have room.
 */
export class RowQuota {
  private readonly usages = new BoundedMap<string, Usage>(TENANTS_MAX);
  /** When imports asked that were turned away, as nobody knows whether there is room. */
  private readonly turnedAway = new BoundedMap<string, number>(ATTEMPTS_MAX);
  private counts: Promise<void> = Promise.resolve();
  private rooms: Promise<void> = Promise.resolve();
  private readonly now: () => number;

  constructor(private readonly deps: RowQuotaDeps) {
    this.now = deps.now ?? Date.now;
  }

  /** Takes room for rows that are added; the transaction that adds them gives it back where it fails. @throws Problem `quota-exceeded` where there is too little, and `overloaded` where that is not known */
  take(tenantId: string, rows = 1): void {
    if (!this.fit(tenantId, rows)) throw this.exceeded(tenantId);
  }

  /** The same without taking it, for rows that need room in several quotas or none. @throws Problem `quota-exceeded` */
  requireRoom(tenantId: string, rows: number): void {
    if (!this.fit(tenantId, rows, 0)) throw this.exceeded(tenantId);
  }

  /**
   * Waits for a count of a tenant's rows, where by what is known so many together could not be taken: for who is about to
   * write them and does not try again. Behind a count that took long it waits for none. Call it outside of transactions.
   */
  async whenKnown(tenantId: string, rows: number): Promise<void> {
    const usage = this.usageOf(tenantId);
    if (!this.isUnknown(usage, rows) && this.fits(usage, rows)) return;
    // One that runs began before.
    await usage.count;
    const pause = usage.countableForWaitingAt - this.now();
    if (pause > 0 && pause <= PAUSE_MILLISECONDS_WAITED) await sleep(pause + 1);
    this.count(tenantId, usage, usage.countableForWaitingAt);
    await usage.count;
  }

  /**
   * The same as `hasRoom` for who refuses for good: there is no room only by a count that began after the question. Call it
   * outside of transactions. @throws Problem `overloaded` where there was none
   */
  async hasRoomNow(tenantId: string, rows: number): Promise<boolean> {
    const askedAt = this.now();
    await this.whenKnown(tenantId, rows);
    if (this.fit(tenantId, rows, 0)) return true;
    this.requireCountedSince(askedAt, tenantId);
    return this.refused();
  }

  private exceeded(tenantId: string): Problem {
    const { quota, what, limit } = this.deps;
    const { counted, added } = this.usageOf(tenantId);
    return quotaExceeded({ quota, what, limit, used: counted + added });
  }

  private requireCountedSince(askedAt: number, tenantId: string): void {
    if (this.usageOf(tenantId).countedAt < askedAt) throw this.uncounted();
  }

  private uncounted(): Problem {
    return unavailable(`The ${this.deps.what} of your tenant could not be counted yet; try again.`);
  }

  /** Takes room for rows that are written already, whether or not there is so much. */
  recordWritten(tenantId: string, rows: number): void {
    this.add(this.usageOf(tenantId), rows);
  }

  /** Gives back the room for rows that turned out not to be added; within the transaction that took it, or after it. */
  giveBack(tenantId: string, rows: number): void {
    this.add(this.usageOf(tenantId), -rows);
  }

  /** The same as `take` for who has another answer than a problem, which is counted here. */
  tryTake(tenantId: string, rows: number): boolean {
    return this.fit(tenantId, rows) || this.refused();
  }

  /** The same as `requireRoom` for who has another answer than a problem, which is counted here. */
  hasRoom(tenantId: string, rows: number): boolean {
    return this.fit(tenantId, rows, 0) || this.refused();
  }

  private refused(): false {
    quotaRefusals(this.deps.metrics).inc({ quota: this.deps.quota, scope: 'tenant' });
    return false;
  }

  /**
   * For an import, whose rows are refused for good: only by a count that began after this call. An attempt behind one that
   * was turned away for that asks since then, so that the count which began with it is enough, however long it took. A
   * dry-run is refused what would be refused of its rows together, and takes no room from anybody; nobody counts what is
   * left of it.
   */
  forImport({ jobId, isDryRun = false }: ImportAttempt): QuotaOfImport {
    const job = isDryRun ? `dry-run ${jobId}` : jobId;
    const askedAt = this.turnedAway.get(job) ?? this.now();
    let tried = 0;
    const refuse = (tenantId: string, rows: number): false => {
      this.turnedAway.set(job, askedAt);
      this.requireCountedSince(askedAt, tenantId);
      if (!isDryRun && this.mayMakeRoom(this.usageOf(tenantId), rows, askedAt)) throw this.uncounted();
      this.turnedAway.delete(job);
      return isDryRun ? false : this.refused();
    };
    const hasRoom = (tenantId: string, rows: number, taken = 0) => {
      const fits = isDryRun
        ? this.fit(tenantId, tried + rows, 0, -Infinity)
        : this.fit(tenantId, rows, taken, askedAt);
      if (isDryRun && fits) tried += taken;
      return fits || refuse(tenantId, rows);
    };
    return {
      whenKnown: (tenantId, rows) => this.whenKnown(tenantId, rows),
      hasRoom: (tenantId, rows) => hasRoom(tenantId, rows),
      tryTake: (tenantId, rows) => hasRoom(tenantId, rows, rows),
      giveBack: (tenantId, rows) => {
        if (isDryRun) tried -= rows;
        else this.giveBack(tenantId, rows);
      },
    };
  }

  /**
   * @param askedAt room is made where since then none could be
   * @throws Problem `overloaded` where that is not known
   */
  private fit(
    tenantId: string,
    rows: number,
    taken = rows,
    askedAt = this.now() - ROOMLESS_MILLISECONDS,
  ): boolean {
    const usage = this.usageOf(tenantId);
    const hasRoom = this.fits(usage, rows);
    const isUnknown = this.isUnknown(usage, rows);
    const isTaken = hasRoom && !isUnknown && taken > 0;
    if (isTaken) this.add(usage, taken);
    const isOutdated =
      !usage.isCounted ||
      usage.added >= Math.max(ADDED_ROWS_MIN, (this.deps.limit - usage.counted) / 10) ||
      this.now() - usage.countedAt > (this.deps.countedMillisecondsMax ?? Infinity);
    // A count that runs beside the transaction would not find its rows.
    if (isOutdated && isTaken) onCommit(() => this.count(tenantId, usage));
    else if (!hasRoom && this.mayMakeRoom(usage, rows, askedAt)) {
      usage.wanted = Math.max(usage.wanted, usage.uncommitted + rows);
      this.count(tenantId, usage, usage.countableForWaitingAt);
    } else if (isOutdated || !hasRoom) this.count(tenantId, usage);
    if (hasRoom && isUnknown) throw this.uncounted();
    return hasRoom;
  }

  private fits({ counted, added }: Usage, rows: number): boolean {
    return counted + added + rows <= this.deps.limit;
  }

  /** What the transaction has taken already it gives back where these rows have no room, and needs again with them. */
  private mayMakeRoom({ roomlessAt, uncommitted }: Usage, rows: number, askedAt: number): boolean {
    const { makeRoom, limit } = this.deps;
    return makeRoom !== undefined && uncommitted + rows <= limit && roomlessAt < askedAt;
  }

  private add(usage: Usage, rows: number): void {
    // What is given back may have been counted away meanwhile.
    usage.added = Math.max(0, usage.added + rows);
    usage.uncommitted += rows;
    onCommit(() => void (usage.uncommitted -= rows));
    onRollback(() => {
      usage.uncommitted -= rows;
      usage.added = Math.max(0, usage.added - rows);
    });
  }

  private isUnknown({ isCounted, added }: Usage, rows: number): boolean {
    const { uncountedMin = ADDED_ROWS_MIN, limit } = this.deps;
    return !isCounted && added + rows > Math.max(uncountedMin, limit / 10);
  }

  private usageOf(tenantId: string): Usage {
    let usage = this.usages.get(tenantId);
    if (!usage) {
      const uncounted = { counted: 0, added: 0, uncommitted: 0, isCounted: false, countedAt: 0 };
      const never = { countableAt: 0, countableForWaitingAt: 0, wanted: 0, roomlessAt: -Infinity };
      usage = { ...uncounted, ...never, count: Promise.resolve() };
      this.usages.set(tenantId, usage);
    }
    return usage;
  }

  private count(tenantId: string, usage: Usage, countableAt = usage.countableAt): void {
    if (this.now() < countableAt) return;
    usage.countableAt = usage.countableForWaitingAt = Infinity;
    let begunAt = 0;
    let hasFailed = false;
    const attempt = async (work: () => Promise<void>) => {
      try {
        await work();
      } catch (error) {
        hasFailed = true;
        this.deps.log.warn(
          { err: error, tenantId, quota: this.deps.quota },
          'rows could not be counted or removed',
        );
      }
    };
    this.counts = this.counts.then(async () => {
      begunAt = this.now();
      await attempt(() => this.countExactly(tenantId, usage));
    });
    // The rows of others are counted while room is made, for one tenant after the other.
    usage.count = this.counts.then(async () => {
      const needsRoom = !hasFailed && usage.wanted > 0 && !this.fits(usage, usage.wanted);
      if (needsRoom)
        await (this.rooms = this.rooms.then(() => {
          // What was made for others before is no reason to pause.
          begunAt = this.now();
          return attempt(() => this.makeRoom(tenantId, usage));
        }));
      usage.wanted = 0;
      const pauseOfCount = Math.min((this.now() - begunAt) * PAUSE_OF_COUNT, PAUSE_MILLISECONDS_MAX);
      // Whoever is refused meanwhile would have it tried at once.
      const pauseOfRoom = needsRoom && hasFailed ? RECOUNT_MILLISECONDS : 0;
      usage.countableForWaitingAt = this.now() + Math.max(pauseOfRoom, pauseOfCount);
      usage.countableAt =
        this.now() + Math.max(hasFailed ? RECOUNT_MILLISECONDS : COUNT_MILLISECONDS_MIN, pauseOfCount);
    });
  }

  /** A tenth of it at least, so that it is not made for each request. */
  private async makeRoom(tenantId: string, usage: Usage): Promise<void> {
    const { makeRoom, limit } = this.deps;
    const { wanted, counted, added } = usage;
    if (!makeRoom) return;
    const begunAt = this.now();
    await forPlatform(() => makeRoom(tenantId, Math.max(counted + added + wanted - limit, limit / 10)));
    await this.countExactly(tenantId, usage);
    usage.roomlessAt = this.fits(usage, wanted) ? -Infinity : begunAt;
  }

  /** Of what was committed meanwhile nobody knows whether it was counted; it may be all rows of an import. */
  private async countExactly(tenantId: string, usage: Usage): Promise<void> {
    if (!(await this.countOnce(tenantId, usage))) await this.countOnce(tenantId, usage);
  }

  /** Returns whether nothing was committed meanwhile, which would be counted twice. */
  private async countOnce(tenantId: string, usage: Usage): Promise<boolean> {
    const begunAt = this.now();
    const { rows, committedBefore } = await forPlatform(() => this.rowsOf(tenantId, usage));
    const isExact = committedOf(usage) <= committedBefore;
    usage.counted = rows;
    // A transaction that failed meanwhile has given back some of it.
    usage.added = Math.max(0, usage.added - committedBefore);
    usage.isCounted = true;
    usage.countedAt = begunAt;
    return isExact;
  }

  private async rowsOf(tenantId: string, usage: Usage): Promise<{ rows: number; committedBefore: number }> {
    const { table, where = 'true', measure = 'count(*)' } = this.deps;
    let committedBefore = 0;
    const statement = `SELECT coalesce(${measure}, 0)::float8 AS rows FROM ${table} WHERE tenant_id = $1::uuid AND ${where}`;
    const [counted] = await this.deps.db.inTenant(tenantId, (tx) => {
      // As late as it is known to be counted: a connection may have been waited for.
      committedBefore = committedOf(usage);
      return tx.$queryRawUnsafe<{ rows: number }[]>(statement, tenantId);
    });
    return { rows: counted!.rows, committedBefore };
  }
}

/** What was given back within its transaction is still among the uncommitted. */
const committedOf = ({ added, uncommitted }: Usage): number => Math.max(0, added - uncommitted);
