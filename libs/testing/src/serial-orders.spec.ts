import { findUnserializable, type Write } from './serial-orders';

type World = { writes: string[] };

const find = (names: string[], writeOf: (name: string) => Write<World>) =>
  findUnserializable<World>({
    setUp: async () => ({ writes: [] }),
    writes: Object.fromEntries(names.map((name) => [name, writeOf(name)])),
    observe: async () => [],
    eventsOf: async () => [],
    isLost: ({ status }) => status === 409,
  });

describe('pairs of writes', () => {
  it('leave no write out, also where their number is odd', async () => {
    const ran = new Set<string>();
    const writeOf = (name: string) => async () => {
      ran.add(name);
      return { status: 204, body: undefined };
    };
    expect(await find(['a', 'b', 'c'], writeOf)).toEqual({});
    expect([...ran].sort()).toEqual(['a', 'b', 'c']);
  });

  /** Writes of which these lose when they are run together. */
  const losing =
    (...losers: string[]) =>
    (name: string): Write<World> =>
    async ({ writes }) => {
      writes.push(name);
      const isFirstTime = writes.filter((one) => one === name).length === 1;
      await new Promise(setImmediate);
      const areTogether = isFirstTime && writes.length === 2;
      return { status: areTogether && losers.includes(name) ? 409 : 204, body: undefined };
    };

  it('may have one that lost to the other, and no two that lost to each other', async () => {
    expect(await find(['a', 'b'], losing('a'))).toEqual({});
    expect(Object.keys(await find(['a', 'b'], losing('a', 'b')))).toEqual(['a beside b']);
  });
});
