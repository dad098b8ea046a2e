import type { FileRow, FileRows } from '../formats/read-csv';
import { RowBudget, TooLong } from './row-budget';

const fileOf = (...pieces: FileRow[][]): FileRows =>
  ({
    rows: (async function* () {
      yield* pieces;
    })(),
  }) as unknown as FileRows;
const row = (number: number, length: number): FileRow => ({ number, cells: ['x'.repeat(length), ''] });

describe('the budget of a short activity', () => {
  it('is for all files that it reads, and counts empty cells too', async () => {
    const budget = new RowBudget(100);
    const numbersOf = async (file: FileRows) => {
      const numbers: number[] = [];
      for await (const rows of budget.limit(file).rows) numbers.push(...rows.map(({ number }) => number));
      return numbers;
    };

    expect(await numbersOf(fileOf([row(2, 20)], [row(3, 20)]))).toEqual([2, 3]);
    expect(await numbersOf(fileOf([row(2, 42)]))).toEqual([2]);
    await expect(numbersOf(fileOf([row(2, 0)]))).rejects.toThrow(TooLong);
  });
});
