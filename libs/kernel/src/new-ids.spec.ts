import { validate, version } from 'uuid';
import { newIds } from './new-ids';

describe('ids for many rows', () => {
  const ids = newIds(10_000);

  it('are UUIDs version 7', () => {
    expect(ids.filter((id) => !validate(id) || version(id) !== 7)).toEqual([]);
  });

  it('sort in the order of the rows, without duplicates', () => {
    expect([...ids].sort()).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('sort in the order in which they were asked for, within a millisecond too', () => {
    const asked = Array.from({ length: 500 }, () => newIds(1)).flat();
    expect([...asked].sort()).toEqual(asked);
  });
});
