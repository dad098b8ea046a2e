import type { ShareOwner } from '@plinth/kernel/fair-shares';
import { EventLoopTurns, FairPlaces } from './fair-places';

const ada = { tenantId: 'acme', userId: 'ada' };
const grace = { tenantId: 'acme', userId: 'grace' };
const bob = { tenantId: 'globex', userId: 'bob' };

/** Work that lasts until its end is called, and a list of what has begun. */
function start(places: number, waitingMax = 100) {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const shared = new FairPlaces({ places, waitingMax, refused: (scope) => new Error(`share of ${scope}`) });
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
  it('leave a place for another tenant, whatever the first one asks for', () => {
    const { begun, run, shared } = start(3);
    for (let number = 0; number < 10; number++) void run(`ada-${number}`, ada);
    expect(begun).toEqual(['ada-0', 'ada-1']);
    void run('bob', bob);
    expect(begun).toEqual(['ada-0', 'ada-1', 'bob']);
    expect([shared.runningCount, shared.waitingCount]).toEqual([3, 8]);
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

  it('are given to the user of a tenant who works in the fewest', async () => {
    const { begun, run, end } = start(3);
    for (let number = 0; number < 4; number++) void run(`ada-${number}`, ada);
    void run('grace-0', grace);
    await end('ada-0');
    expect(begun).toEqual(['ada-0', 'ada-1', 'grace-0']);
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
    const { run, shared, end } = start(1, 8);
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
