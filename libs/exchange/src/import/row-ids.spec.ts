import { validate, version } from 'uuid';
import { newRowIds } from './row-ids';

describe('the ids of imported rows', () => {
  const ids = newRowIds(10_000);

  it('are UUIDs version 7', () => {
    expect(ids.filter((id) => !validate(id) || version(id) !== 7)).toEqual([]);
  });

  it('sort in the order of the rows, without duplicates', () => {
    expect([...ids].sort()).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
  });
});
