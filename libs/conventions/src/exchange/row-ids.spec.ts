import { validate, version } from 'uuid';
import { rowIds } from './row-ids';

describe('the ids of imported rows', () => {
  const ids = rowIds(10_000);

  it('are UUIDs version 7', () => {
    expect(ids.filter((id) => !validate(id) || version(id) !== 7)).toEqual([]);
  });

  it('sort in the order of the rows, and none comes twice', () => {
    expect([...ids].sort()).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
  });
});
