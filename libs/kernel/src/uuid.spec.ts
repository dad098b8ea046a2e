import { validate, version } from 'uuid';
import { newId } from './uuid';

describe('ids that are made one by one', () => {
  // More than one draw of random bytes, and many in each millisecond.
  const ids = Array.from({ length: 5_000 }, newId);

  it('are UUIDs version 7', () => {
    expect(ids.filter((id) => !validate(id) || version(id) !== 7)).toEqual([]);
  });

  it('sort in the order in which they were made, without duplicates', () => {
    expect([...ids].sort()).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('sort so when the clock is set back, too', () => {
    const now = Date.now();
    const clock = jest.spyOn(Date, 'now').mockReturnValue(now + 60_000);
    const before = newId();
    clock.mockReturnValue(now);
    const after = newId();
    clock.mockRestore();
    expect(before < after).toBe(true);
  });

  it('differ at their ends, which are random', () => {
    expect(new Set(ids.map((id) => id.slice(-12))).size).toBe(ids.length);
  });
});
