import { countedReads } from '../../test/counted-reads';
import type { FileRow } from './read-csv';
import { rowBatches, type RowBatch } from './row-batches';

const LONG = 'x'.repeat(100_000);
const EMPTY_CELLS = Array<string>(100_000).fill('');

/** How many of these rows each batch has. */
async function batchSizes(row: Omit<FileRow, 'number'>, positions: number[]): Promise<number[]> {
  async function* pieces() {
    for (let number = 2; number <= 101; number++) yield [{ ...row, number }];
  }
  const sizes: number[] = [];
  for await (const { rowCount } of rowBatches(pieces(), { positions, columnCount: 2 })) sizes.push(rowCount);
  return sizes;
}

const unreadableOf = (batch: RowBatch) => batch.unreadableRows.map((row) => batch.unreadableRow(row));

describe('a batch of rows', () => {
  it.each<[what: string, row: Omit<FileRow, 'number'>, positions: number[], rowsMax: number]>([
    ['cells that are sent', { cells: ['A', LONG] }, [0, 1], 9],
    ['cells of columns that are not mapped', { cells: ['A', LONG] }, [0], 40],
    ['rows that cannot be read', { cells: ['A', LONG, 'more'], error: 'too-many-cells' }, [0, 1], 40],
    ['characters that take six in JSON', { cells: ['A', LONG.replaceAll('x', '\u0001')] }, [0], 4],
    ['cells without text that are not mapped', { cells: ['A', ...EMPTY_CELLS] }, [0], 8],
    ['cells without text that cannot be read', { cells: EMPTY_CELLS, error: 'too-many-columns' }, [0, 1], 8],
  ])('has a bounded length in memory: %s', async (_what, row, positions, rowsMax) => {
    const sizes = await batchSizes(row, positions);

    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(100);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(rowsMax);
  });

  it('gives all cells of its rows, sent, not mapped and unreadable', async () => {
    async function* pieces(): AsyncGenerator<FileRow[]> {
      yield [
        { number: 2, cells: ['A', 'a'] },
        { number: 3, cells: ['B', 'b', 'more'], error: 'too-many-cells' },
        { number: 4, cells: ['C', 'x'.repeat(1_000_001)] },
      ];
    }
    for (const positions of [[0], [0, 1]]) {
      const cells = new Map<number, string[]>();
      for await (const batch of rowBatches(pieces(), { positions, columnCount: 2 }))
        for (let row = batch.firstRow; row <= batch.lastRow; row++) cells.set(row, batch.cellsOf(row).cells);

      expect(cells.get(2)).toEqual(['A', 'a']);
      expect(cells.get(3)).toEqual(['B', 'b', 'more']);
      expect(cells.get(4)).toEqual(['C', 'x'.repeat(1_000_001)]);
    }
  });

  it('has no cell with an error of the workbook, and takes rows where that is not mapped', async () => {
    const errorCell = (position: number) => ({ position, column: `Column ${position + 1}`, error: '#REF!' });
    async function* pieces(): AsyncGenerator<FileRow[]> {
      yield [
        { number: 2, cells: ['A', '#REF!', 'notes'], errorCells: [errorCell(1)] },
        { number: 3, cells: ['B', 'b', '#REF!'], errorCells: [errorCell(2)] },
      ];
    }
    const { value: batch } = await rowBatches(pieces(), { positions: [0, 1], columnCount: 3 }).next();

    expect(batch).toMatchObject({ rowCount: 2, payload: Buffer.from('[[3,"B","b"]]') });
    expect(unreadableOf(batch as RowBatch)).toMatchObject([
      {
        rowNumber: 2,
        kind: 'Conversion',
        details: [
          {
            column: 'Column 2',
            value: '#REF!',
            message: 'Column 2 holds #REF!, an error of the workbook, instead of a value.',
          },
        ],
      },
    ]);
    expect((batch as RowBatch).cellsOf(2)).toEqual({ cells: ['A', '#REF!', 'notes'], errorCells: [1] });
    expect((batch as RowBatch).cellsOf(3)).toEqual({ cells: ['B', 'b', '#REF!'], errorCells: [2] });
  });

  it('has no text whose end may be missing, and takes rows where that is not mapped', async () => {
    async function* pieces(): AsyncGenerator<FileRow[]> {
      yield [
        { number: 2, cells: ['A', 'a', 'notes'], cutCells: [2] },
        { number: 3, cells: ['B', 'b', 'notes'], cutCells: [1] },
        { number: 4, cells: ['C', 'c', 'notes'], cutCells: [1, 2] },
      ];
    }
    const failed = async (positions: number[]) => {
      const codes: unknown[] = [];
      for await (const batch of rowBatches(pieces(), { positions, columnCount: 3 }))
        for (const { rowNumber, details } of unreadableOf(batch)) codes.push([rowNumber, details[0]!.code]);
      return codes;
    };

    const endMissing = 'Service:Conversion:EndMissing';
    expect(await failed([0])).toEqual([]);
    expect(await failed([1, 0])).toEqual([
      [3, endMissing],
      [4, endMissing],
    ]);
    expect(await failed([0, 1, 2])).toHaveLength(3);
  });

  it('looks for the columns of a wide row of errors once, and not for each of its cells', async () => {
    const columnCount = 500;
    const mapped = countedReads(Array.from({ length: columnCount / 2 }, (_, index) => index));
    const others = Array.from({ length: columnCount / 2 }, (_, index) => index + columnCount / 2);
    async function* pieces(): AsyncGenerator<FileRow[]> {
      const errorCells = others.map((position) => ({
        position,
        column: `Column ${position}`,
        error: '#N/A',
      }));
      yield [{ number: 2, cells: [], errorCells }];
    }
    for await (const { rowCount } of rowBatches(pieces(), { positions: mapped.counted, columnCount }))
      expect(rowCount).toBe(1);

    expect(mapped.reads()).toBeLessThan(5 * columnCount);
  });

  it('has room for blank rows, which it neither sends nor counts', async () => {
    async function* pieces(): AsyncGenerator<FileRow[]> {
      for (let number = 2; number <= 9_001; number++)
        yield [number % 2 && number < 9_000 ? { number, cells: ['A'] } : blank(number)];
      for (let number = 9_002; number <= 13_001; number++) yield [blank(number)];
      yield [{ number: 13_002, cells: ['B'] }];
    }
    const blank = (number: number): FileRow => ({ number, cells: ['', ''], isBlank: true });
    const batches: unknown[] = [];
    for await (const { number, rowCount, firstRow, payload } of rowBatches(pieces(), {
      positions: [0],
      columnCount: 2,
    }))
      batches.push([number, rowCount, firstRow, (JSON.parse(payload.toString()) as unknown[]).length]);

    expect(batches).toEqual([
      [1, 2_000, 2, 2_000],
      [2, 2_000, 4_002, 2_000],
      [3, 499, 8_002, 499],
      [4, 1, 12_002, 1],
    ]);
  });

  it('has four thousand short rows', async () => {
    async function* pieces() {
      yield Array.from({ length: 10_000 }, (_, index) => ({ number: index + 2, cells: ['A', 'a'] }));
    }
    const sizes: number[] = [];
    for await (const { rowCount } of rowBatches(pieces(), { positions: [0], columnCount: 2 }))
      sizes.push(rowCount);

    expect(sizes).toEqual([4_000, 4_000, 2_000]);
  });
});
