import type { ShareOwner } from '@plinth/kernel/fair-shares';
import { turnsAt, type FairPlaces } from '@plinth/runtime/process/fair-places';
import type { FailedRowWithCells } from '../domain/failed-row';
import type { FailedRowTaker } from './send-file';
import { FailedPartsDraft, type FailedPart } from '../store/failed-row-store';

/** Of the failed rows of a batch, as of thousands with some errors each. What is usual waits for nobody. */
const BYTES_MAX = 4_000_000;
/**
 * A batch of rows that are errors cell by cell takes a hundred megabytes: of so many at the same time a process has memory,
 * and a tenant has one of them.
 */
const LARGE_BATCHES_MAX = 2;

/** The places of a process for batches whose failed rows take very much memory until they are counted. */
export const placesOfLargeBatches = (): FairPlaces => turnsAt(LARGE_BATCHES_MAX);

/** A batch has more failed rows than usual, and no place. */
export class NoPlace extends Error {}

/**
 * The failed rows of one batch after the other, which are in memory until they are counted. A batch with more of them than
 * usual takes a place, and waits for one: who has one waits for nobody, so that it gives it back.
 */
export class UncountedRows {
  private readonly draft = new FailedPartsDraft();
  private readonly owner: ShareOwner;
  private readonly signal: AbortSignal;
  private hasPlace = false;

  constructor(
    private readonly places: FairPlaces,
    { tenantId, signal }: { tenantId: string; signal: AbortSignal },
  ) {
    this.owner = { tenantId, userId: '' };
    this.signal = signal;
  }

  /** Returns whether there is room for the next one; where not, `waitForRoom` comes before it. */
  add(row: FailedRowWithCells): boolean {
    this.draft.add(row);
    return this.hasPlace || this.draft.byteLength <= BYTES_MAX;
  }

  /** @throws the reason of the signal */
  async waitForRoom(): Promise<void> {
    if (!this.tryEnter()) await this.places.wait(this.owner, this.signal);
    this.hasPlace = true;
  }

  /** Takes them for what others wait for meanwhile, which ends with NoPlace where it would have to wait itself. */
  withoutWaiting(): FailedRowTaker {
    return {
      add: (row) => this.add(row),
      waitForRoom: async () => {
        if (!this.tryEnter()) throw new NoPlace('There is no place for the failed rows of a large batch.');
      },
    };
  }

  private tryEnter(): boolean {
    this.hasPlace ||= this.places.tryEnter(this.owner);
    return this.hasPlace;
  }

  /** Those of a batch, whose place it has until they are released. */
  take(): FailedPart[] {
    return this.draft.take();
  }

  /** Says that what was taken is stored, or will not be. */
  release(): void {
    if (this.hasPlace) this.places.leave(this.owner);
    this.hasPlace = false;
  }
}
