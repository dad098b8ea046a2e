import type { ShareOwner } from '@plinth/kernel/fair-shares';
import { Registry } from 'prom-client';
import { EventLoopTurns, FairPlaces, measurePlaces, turnsAt, type FairPlacesOptions } from './fair-places';

const ada = { tenantId: 'acme', userId: 'ada' };
const grace = { tenantId: 'acme', userId: 'grace' };
const bob = { tenantId: 'globex', userId: 'bob' };

/** Work that lasts until its end is called, and a list of what has begun. */
function start(places: number, options: Partial<FairPlacesOptions> = {}) {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const shared = new FairPlaces({
    places,
    waitingMax: 100,
    refused: (scope) => new Error(`share of ${scope}`),
    ...options,
  });
  const run = (name: string, owner: ShareOwner, signal?: AbortSignal): Promise<void> =>
    shared.run(
      owner,
      () => {
        begun.push(name);
        return new Promise<void>((resolve) => ends.set(name, resolve));
      },
      signal,
    );
  const end = async (name: string): Promise<void> => {
    ends.get(name)!();
    await new Promise(setImmediate);
  };
  return { shared, begun, run, end };
}

describe('fair places', () => {
  afterEach(() => jest.useRealTimers());

  it('leave a place for another tenant, whatever the first one asks for', () => {
    const { begun, run, shared } = start(3);
    for (let number = 0; number < 10; number++) void run(`ada-${number}`, ada);
    expect(begun).toEqual(['ada-0', 'ada-1']);
    void run('bob', bob);
    expect(begun).toEqual(['ada-0', 'ada-1', 'bob']);
    expect([shared.runningCount, shared.waitingCount]).toEqual([3, 8]);
  });

  it('are waited for by those who could have one of them, and by no tenant that has all it may have', () => {
    const { run, shared } = start(9, { timesFree: 2 });
    const eve = { tenantId: 'initech', userId: 'eve' };
    void run('bob', bob);
    for (let number = 0; number < 6; number++) void run(`ada-${number}`, ada);
    expect([ada, bob].map((owner) => shared.isWaitedFor(owner))).toEqual([false, false]);
    void run('ada-6', ada);
    expect([shared.runningCount, shared.waitingCount]).toEqual([7, 1]);
    expect([ada, bob].map((owner) => shared.isWaitedFor(owner))).toEqual([true, false]);
    void run('eve', eve);
    for (let number = 1; number < 4; number++) void run(`bob-${number}`, bob);
    expect(shared.runningCount).toBe(9);
    expect([ada, bob, eve].map((owner) => shared.isWaitedFor(owner))).toEqual([true, true, false]);
  });

  it('are given to the tenant who works in the fewest, however long others wait', async () => {
    const { begun, run, end } = start(5);
    for (let number = 0; number < 4; number++) void run(`ada-${number}`, ada);
    void run('bob-0', bob);
    void run('bob-1', bob);
    expect(begun).toEqual(['ada-0', 'ada-1', 'ada-2', 'bob-0']);
    await end('ada-0');
    expect(begun.at(-1)).toBe('bob-1');
  });

  it('are kept for a tenant who left one, from a tenant that works in one already, for a while', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    const { begun, run, end } = start(3, { keptMilliseconds: 5_000 });
    void run('bob', bob);
    await end('bob');
    for (let number = 0; number < 9; number++) void run(`ada-${number}`, ada);
    expect(begun).toEqual(['bob', 'ada-0']);
    void run('bob-again', bob);
    await end('bob-again');
    await end('ada-0');
    expect(begun.slice(2)).toEqual(['bob-again', 'ada-1']);

    await jest.advanceTimersByTimeAsync(5_000);
    expect(begun.slice(4)).toEqual([]);
    await jest.advanceTimersByTimeAsync(2);
    void run('newcomer', ada);
    expect(begun.slice(4)).toEqual(['ada-2']);
    await end('ada-1');
    expect(begun.slice(5)).toEqual(['ada-3']);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('are kept by half at most, however many tenants left one', async () => {
    const { begun, run, end } = start(8, { keptMilliseconds: 5_000 });
    for (let number = 0; number < 20; number++) {
      void run(`tenant-${number}`, { tenantId: `tenant-${number}`, userId: 'x' });
      await end(`tenant-${number}`);
    }
    begun.length = 0;
    for (let number = 0; number < 9; number++) void run(`ada-${number}`, ada);
    expect(begun).toEqual(['ada-0', 'ada-1']);
  });

  it('are given to the user of a tenant who works in the fewest', async () => {
    const { begun, run, end } = start(3);
    for (let number = 0; number < 4; number++) void run(`ada-${number}`, ada);
    void run('grace-0', grace);
    await end('ada-0');
    expect(begun).toEqual(['ada-0', 'ada-1', 'grace-0']);
  });

  it('are taken by no tenant that rests, and free for others meanwhile', async () => {
    const { shared, begun, run, end } = start(1);
    let endRest = (): void => undefined;
    const rest = new Promise<void>((resolve) => (endRest = resolve));
    void run('ada-0', ada);
    void run('grace-0', grace);
    shared.rest('acme', rest);
    await end('ada-0');
    void run('bob-0', bob);
    expect(begun).toEqual(['ada-0', 'bob-0']);
    await end('bob-0');
    expect(shared.runningCount).toBe(0);
    endRest();
    await new Promise(setImmediate);
    expect(begun.at(-1)).toBe('grace-0');
  });

  it('are taken by no tenant of whose rests one is not over, however short the last one is', async () => {
    const { begun, shared, run, end } = start(1);
    const long = Promise.withResolvers<void>();
    shared.rest('acme', long.promise);
    shared.rest('acme', Promise.resolve());
    await new Promise(setImmediate);
    void run('ada-0', ada);
    expect(begun).toEqual([]);
    long.resolve();
    await new Promise(setImmediate);
    expect(begun).toEqual(['ada-0']);
    await end('ada-0');
  });

  it('are taken by a tenant again whose rest fails', async () => {
    const { begun, shared, run, end } = start(1);
    shared.rest('acme', Promise.reject(new Error('No rest.')));
    void run('ada-0', ada);
    await new Promise(setImmediate);
    expect(begun).toEqual(['ada-0']);
    await end('ada-0');
  });

  it('are taken in turn, where there is only one', async () => {
    const { begun, run, end } = start(1);
    for (let number = 0; number < 3; number++) void run(`ada-${number}`, ada);
    void run('bob-0', bob);
    await end('ada-0');
    await end('bob-0');
    expect(begun).toEqual(['ada-0', 'bob-0', 'ada-1']);
  });

  it('are free again after an error, and for those who come after somebody gave up', async () => {
    const { begun, run, end, shared } = start(1);
    await expect(shared.run(ada, () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
    void run('ada-0', ada);
    const gone = new AbortController();
    const givenUp = run('ada-1', ada, gone.signal);
    void run('ada-2', ada);
    gone.abort(new Error('gone'));
    await expect(givenUp).rejects.toThrow('gone');
    await end('ada-0');
    expect(begun).toEqual(['ada-0', 'ada-2']);
  });

  it('have room to wait for another tenant when one waits as often as it can', async () => {
    const { run, shared, end } = start(1, { waitingMax: 8 });
    const refusals: string[] = [];
    const all = Array.from({ length: 20 }, (_, number) =>
      run(`ada-${number}`, ada).catch((error: Error) => refusals.push(error.message)),
    );
    await new Promise(setImmediate);
    expect(new Set(refusals)).toEqual(new Set(['share of user']));
    const waiting = shared.waitingCount;
    const bobs = run('bob', bob);
    expect(shared.waitingCount).toBe(waiting + 1);
    await end('ada-0');
    await end('bob');
    await bobs;
    expect(shared.refusedCounts.get('user')).toBe(refusals.length);
    expect(all).toHaveLength(20);
  });
});

describe('who waits for a place', () => {
  afterEach(() => jest.useRealTimers());

  const start = () => {
    const refused = (scope: string) => new Error(`share of ${scope}`);
    return new FairPlaces({ places: 2, waitingMax: Infinity, patienceMilliseconds: 5_000, refused });
  };

  it('is refused when its patience ends, and those with a place are not', async () => {
    jest.useFakeTimers();
    const places = start();
    expect([places.tryEnter(ada), places.tryEnter(ada)]).toEqual([true, false]);
    const refusedForTenant = expect(places.wait(ada)).rejects.toThrow('share of tenant');
    await jest.advanceTimersByTimeAsync(4_000);
    expect(places.tryEnter(bob)).toBe(true);
    const served = places.wait(bob);
    await jest.advanceTimersByTimeAsync(999);
    expect(places.waitingCount).toBe(2);
    places.leave(bob);
    await served;
    places.leave(bob);
    await jest.advanceTimersByTimeAsync(1);
    await refusedForTenant;
    expect(places.tryEnter(bob)).toBe(true);
    const refusedForAll = expect(places.wait(ada)).rejects.toThrow('share of all');
    await jest.advanceTimersByTimeAsync(5_000);
    await refusedForAll;
    expect(Object.fromEntries(places.refusedCounts)).toEqual({ tenant: 1, all: 1 });
    expect([places.runningCount, places.waitingCount]).toEqual([2, 0]);
  });

  it('holds up nobody behind it when it gives up', async () => {
    const places = start();
    places.tryEnter(ada);
    places.tryEnter(bob);
    const gone = new AbortController();
    const givenUp = places.wait(bob, gone.signal);
    const next = places.wait(bob);
    gone.abort(new Error('gone'));
    await expect(givenUp).rejects.toThrow('gone');
    places.leave(bob);
    await next;
    expect(places.waitingCount).toBe(0);
  });
});

it('places of several parts of a process are measured together, and how long is waited for them', async () => {
  const metrics = new Registry();
  const one = turnsAt(1);
  const two = [turnsAt(1), turnsAt(1)] as const;
  measurePlaces(metrics, { one });
  for (const places of two) measurePlaces(metrics, { two: places });
  one.tryEnter(ada);
  void one.wait(bob);
  const places = start(1, { patienceMilliseconds: 1 }).shared;
  measurePlaces(metrics, { three: places });
  for (const all of [...two, places]) all.tryEnter(ada);
  await expect(places.wait(bob)).rejects.toThrow('share of all');

  const text = await metrics.metrics();

  expect(text).toContain('plinth_places_taken{places="one"} 1');
  expect(text).toContain('plinth_places_taken{places="two"} 2');
  expect(text).toContain('plinth_places_waiting{places="one"} 1');
  expect(text).toContain('plinth_places_refused_total{places="three",scope="all"} 1');
  expect(text).toContain('plinth_places_wait_seconds_count{places="three"} 1');
  expect(text).not.toContain('plinth_places_wait_seconds_count{places="one"}');
});

describe('turns of the event loop', () => {
  it('are one for each piece of work, and alternate between tenants', async () => {
    const turns = new EventLoopTurns();
    const done: string[] = [];
    let loops = 0;
    const isEnded = { value: false };
    const countLoops = (): void => {
      loops++;
      if (!isEnded.value) setImmediate(countLoops);
    };
    setImmediate(countLoops);
    const owners = [ada, ada, ada, ada, bob, bob];
    await Promise.all(
      owners.map((owner) => turns.take(owner, () => done.push(`${owner.userId} in ${loops}`))),
    );
    isEnded.value = true;
    expect(done.map((one) => one.split(' ')[0])).toEqual(['ada', 'bob', 'ada', 'bob', 'ada', 'ada']);
    expect(new Set(done.map((one) => one.split(' ')[2])).size).toBe(owners.length);
  });

  it('go on after a piece that fails', async () => {
    const turns = new EventLoopTurns();
    const failing = turns.take(ada, () => {
      throw new Error('bad');
    });
    const next = turns.take(bob, () => 'done');
    await expect(failing).rejects.toThrow('bad');
    expect(await next).toBe('done');
  });
});
