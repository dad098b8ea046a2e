import { forRequest } from '@plinth/runtime/process/current-work';
import { turnsAt } from '@plinth/runtime/process/fair-places';
import { BATCH_ITEMS, batchResultOf } from './batch';

const ITEMS = Array.from({ length: 50 }, (_, index) => index);

describe('a batch', () => {
  it('ends when its client has disconnected, and writes no more', async () => {
    const abort = new AbortController();
    const written: number[] = [];
    const batch = forRequest(abort.signal, () =>
      batchResultOf(ITEMS, async (item) => {
        written.push(item);
        if (item === 2) abort.abort();
      }),
    );
    await expect(batch).rejects.toMatchObject({ kind: 'timed-out' });
    expect(written).toEqual([0, 1, 2]);
  });

  it('waits no longer for its turn when its client has disconnected', async () => {
    const places = turnsAt(1);
    const owner = { tenantId: 'one', userId: 'ada' };
    expect(places.tryEnter(owner)).toBe(true);
    const abort = new AbortController();
    const batch = forRequest(abort.signal, () =>
      batchResultOf(ITEMS, async () => 1, { placesFor: () => places, owner }),
    );
    abort.abort();
    await expect(batch).rejects.toMatchObject({ kind: 'timed-out' });
  });

  it('shares the turns of a process with others: those of one tenant have half of them', async () => {
    const places = turnsAt(BATCH_ITEMS);
    let running = 0;
    let most = 0;
    const batchOf = (userId: string) =>
      batchResultOf(
        ITEMS,
        async () => {
          most = Math.max(most, ++running);
          await new Promise(setImmediate);
          running--;
        },
        { placesFor: () => places, owner: { tenantId: 'one', userId } },
      );
    const batches = Array.from({ length: 20 }, (_, index) => batchOf(`user ${index}`));
    const done = await Promise.all(batches);
    expect(most).toBe(BATCH_ITEMS / 2);
    expect(done.map(({ successCount }) => successCount)).toEqual(batches.map(() => ITEMS.length));
  });
});
