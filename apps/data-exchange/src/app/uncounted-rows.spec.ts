import type { FailedRowWithCells } from '../domain/failed-row';
import { placesOfLargeBatches, UncountedRows } from './uncounted-rows';

const row = (rowNumber: number): FailedRowWithCells => ({
  rowNumber,
  kind: 'Conversion',
  details: [],
  cells: ['x'.repeat(100_000)],
});
const { signal } = new AbortController();

/** A batch of a tenant, and whether there is room for more than such a one usually has. */
function aBatch(places: ReturnType<typeof placesOfLargeBatches>, tenantId: string, ends = signal) {
  const rows = new UncountedRows(places, { tenantId, signal: ends });
  let count = 0;
  const fill = (): boolean => {
    while (count < 100) if (!rows.add(row(count++))) return false;
    return true;
  };
  return { rows, fill };
}

describe('the failed rows of batches that are not counted yet', () => {
  it('of usual batches wait for nobody', () => {
    const places = placesOfLargeBatches();
    for (let batch = 0; batch < 8; batch++)
      expect(new UncountedRows(places, { tenantId: 'acme', signal }).add(row(2))).toBe(true);
    expect(places.runningCount).toBe(0);
  });

  it('are very many in two batches of a process only, one of a tenant; others wait until those are counted', async () => {
    const places = placesOfLargeBatches();
    const batches = ['acme', 'acme', 'globex', 'initech'].map((tenantId) => aBatch(places, tenantId));
    expect(batches.map(({ fill }) => fill())).toEqual([false, false, false, false]);
    const rooms = batches.map(({ rows }) => rows.waitForRoom());
    await Promise.all([rooms[0], rooms[2]]);
    expect([places.runningCount, places.waitingCount]).toEqual([2, 2]);
    expect([batches[0]!.fill(), batches[2]!.fill()]).toEqual([true, true]);

    const [first] = batches;
    expect(first!.rows.take().reduce((sum, { rowCount }) => sum + rowCount, 0)).toBe(100);
    expect(places.runningCount).toBe(2);
    first!.rows.release();
    await rooms[3];
    for (const { rows } of batches.slice(2)) rows.release();
    await rooms[1];
    batches[1]!.rows.release();
    expect(places.runningCount).toBe(0);
  });

  it('wait no longer once their import ends', async () => {
    const places = placesOfLargeBatches();
    const ended = new AbortController();
    const [first, second] = [aBatch(places, 'acme'), aBatch(places, 'acme', ended.signal)];
    await first.rows.waitForRoom();
    const waiting = second.rows.waitForRoom();
    ended.abort(new Error('It ended.'));

    await expect(waiting).rejects.toThrow('It ended.');
    second.rows.release();
    expect([places.runningCount, places.waitingCount]).toEqual([1, 0]);
  });
});
