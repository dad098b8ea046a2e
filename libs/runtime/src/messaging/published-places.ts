/** What a pass of the relay found behind the place after which it read. */
export interface Pass {
  /** The first and the last event that it published, by their sequence. */
  taken?: { first: bigint; last: bigint } | undefined;
  /** The first event that it saw unpublished and did not take: too many, or another relay is at it. */
  left?: bigint | undefined;
}

/** Which transactions had ended when a poll began. */
export interface Snapshot {
  /** All transactions with lower numbers had ended. */
  oldest: bigint;
  /** No transaction with this number or a higher one had begun. */
  next: bigint;
}

/** Rows that are seen unpublished only until they are settled. */
interface Settling {
  upTo: bigint;
  /** Every transaction that has a row up to there has a lower number. */
  before: bigint;
  /** A poll saw that all of them were published; the next one sees whether Postgres kept that. */
  isSeen: boolean;
}

/**
 * After which place in the outbox a relay looks for events, by their sequence. While any transaction is open, however
 * little it does, Postgres keeps the index entries of all events that were published since it began, and whoever reads from
 * the first place on passes them all, again and again.
 *
 * Sequences are not committed in their order. So a transaction of this process remembers the place before it began
 * (`place`), and comes back with it after its commit (`wake`): all its events are behind that, since a sequence is given
 * once. What another process commits, its own relay is woken for. What is left by a process that died between its commit
 * and its wake is found by polls, which read from a place up to which everything is published for good: every transaction
 * that might have had a row there has ended, two polls in a row found nothing, and what Postgres forgets of marks when it
 * crashes is younger than that. None of this says anything of another server that took over (`isElsewhere`).
 */
export class PublishedPlaces {
  /** Up to here, as far as a pass could see, nothing was left. */
  private published = 0n;
  /** Before what was committed since the last pass began. */
  private woken: bigint | undefined;
  private settled = 0n;
  private settling: Settling | undefined;
  private server: string | undefined;

  /** Events that are written from now on are behind this place. */
  place(): bigint {
    return this.published;
  }

  /** Something behind this place was committed. */
  wake(after: bigint): void {
    this.woken = least(this.woken ?? after, after);
  }

  /** Begins a pass: after which place it reads. When it fails, `wake` has this place read again. */
  next(isPoll: boolean): bigint {
    const behind = least(this.published, this.woken ?? this.published);
    this.woken = undefined;
    return isPoll ? least(this.settled, behind) : behind;
  }

  /** Ends a pass that was committed; `snapshot` is of the beginning of its transaction, where it was a poll. */
  done({ taken, left }: Pass, snapshot?: Snapshot): void {
    const upTo = this.published;
    if (left !== undefined) this.published = left - 1n;
    // A poll goes back to what it sees, in case that a database was replaced by an earlier state of itself.
    else if (taken && (snapshot || taken.last > this.published)) this.published = taken.last;
    if (snapshot) this.settle(upTo, [taken?.first, left], snapshot);
  }

  /**
   * Whether the pass that ended was at another server of the database than the ones before, and the next one reads from the
   * first place: a replica that took over may lack the latest events, and gives their sequences to others.
   */
  isElsewhere(server: string): boolean {
    const isElsewhere = this.server !== undefined && server !== this.server;
    this.server = server;
    if (isElsewhere) {
      this.published = 0n;
      this.forget();
    }
    return isElsewhere;
  }

  /** Has the next poll read from the first place. */
  forget(): void {
    this.settled = 0n;
    this.settling = undefined;
  }

  private settle(upTo: bigint, unpublished: readonly (bigint | undefined)[], { oldest, next }: Snapshot) {
    const { settling } = this;
    const isQuiet =
      settling !== undefined &&
      oldest >= settling.before &&
      unpublished.every((sequence) => sequence === undefined || sequence > settling.upTo);
    if (isQuiet && settling.isSeen) this.settled = settling.upTo;
    if (!settling || (isQuiet && settling.isSeen)) this.settling = { upTo, before: next, isSeen: false };
    else settling.isSeen = isQuiet;
  }
}

const least = (one: bigint, other: bigint): bigint => (one < other ? one : other);
