import { EventEmitter } from 'node:events';
import { RequestTurns } from './request-turns';

const TURN_MILLISECONDS = 100;

const busy = { tenantId: 'busy', userId: 'ada' };
const other = { tenantId: 'other', userId: 'bob' };
const third = { tenantId: 'third', userId: 'eve' };

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

const start = (count: number) =>
  new RequestTurns({ count, turnMilliseconds: TURN_MILLISECONDS }, { now: () => new Date() });

/** Turns that several tenants have asked for. */
async function startShared(count: number): Promise<RequestTurns> {
  const turns = start(count);
  for (const owner of [busy, other]) (await turns.begin(owner))();
  return turns;
}

/** Asks for turns in this order; each ends as soon as it has begun. Returns the tenants in the order of their turns. */
async function orderOf(turns: RequestTurns, owners: (typeof busy)[]): Promise<string[]> {
  const order: string[] = [];
  await Promise.all(
    owners.map(async (owner) => {
      const end = await turns.begin(owner);
      order.push(owner.tenantId);
      end();
    }),
  );
  return order;
}

describe('the turns of requests', () => {
  it('do not exist for a tenant that is alone', async () => {
    const turns = start(1);
    for (let count = 0; count < 50; count++) await turns.begin(busy);
    expect(turns.places.runningCount).toBe(0);
  });

  it('go to tenants one after another, however many requests of one of them came before', async () => {
    const turns = await startShared(1);
    const end = await turns.begin(busy);
    const order = orderOf(turns, [busy, busy, busy, busy, other, other, third]);
    end();
    expect(await order).toEqual(['other', 'third', 'busy', 'other', 'busy', 'busy', 'busy']);
  });

  it.each([
    [false, [6, 3, 2]],
    [true, [3, 2, 2]],
  ])(
    'are left to the next tenants at once, and more of them while the service is busy: %s',
    async (isBusy, most) => {
      const options = { count: 12, turnMilliseconds: TURN_MILLISECONDS, isBusy: () => isBusy };
      const turns = new RequestTurns(options, { now: () => new Date() });
      for (const owner of [busy, other]) (await turns.begin(owner))();
      const wanted = [busy, other, third].map((owner) => Array.from({ length: 9 }, () => turns.begin(owner)));
      const begun = wanted.map((ofTenant) => ofTenant.filter((turn) => !(turn instanceof Promise)).length);
      expect(begun).toEqual(most);
      await jest.advanceTimersByTimeAsync(300 * TURN_MILLISECONDS);
      await Promise.all(wanted.flat());
    },
  );

  it('are left by a request that takes longer, once', async () => {
    const turns = await startShared(1);
    const end = await turns.begin(busy);
    const next = turns.begin(other);
    await jest.advanceTimersByTimeAsync(TURN_MILLISECONDS - 1);
    expect(turns.places.waitingCount).toBe(1);
    await jest.advanceTimersByTimeAsync(1);
    const endNext = await next;
    end();
    expect(turns.places.runningCount).toBe(1);
    endNext();
    expect(turns.places.runningCount).toBe(0);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('are given up by a client that disconnects, which holds up nobody', async () => {
    const turns = await startShared(1);
    const client = new EventEmitter();
    const end = await turns.begin(busy);
    const givenUp = turns.begin(other, client);
    const next = turns.begin(third, client);
    const disconnected = expect(givenUp).rejects.toMatchObject({ kind: 'timed-out' });
    expect(turns.places.waitingCount).toBe(2);
    client.emit('close');
    await disconnected;
    await expect(next).rejects.toMatchObject({ kind: 'timed-out' });
    expect(client.listenerCount('close')).toBe(0);
    const last = turns.begin(other, client);
    end();
    (await last)();
    expect([turns.places.runningCount, turns.places.waitingCount]).toEqual([0, 0]);
    expect(client.listenerCount('close')).toBe(0);
  });

  it('end to exist some time after the other tenants have left', async () => {
    const turns = await startShared(1);
    await jest.advanceTimersByTimeAsync(5_000);
    await turns.begin(busy);
    expect(turns.places.runningCount).toBe(1);
    await jest.advanceTimersByTimeAsync(10_000);
    await turns.begin(busy);
    await turns.begin(busy);
    expect(turns.places.runningCount).toBe(0);
    await turns.begin(other);
    expect(turns.places.runningCount).toBe(1);
  });

  it('are refused to a tenant that has too many waiting, and not to others', async () => {
    const options = { count: 1, turnMilliseconds: TURN_MILLISECONDS, waitingMax: 8 };
    const turns = new RequestTurns(options, { now: () => new Date() });
    for (const owner of [busy, other]) (await turns.begin(owner))();
    const end = await turns.begin(busy);
    const waiting = Array.from({ length: 8 }, async () => (await turns.begin(busy))());
    const refused = expect(Promise.all(waiting)).rejects.toMatchObject({ slug: 'share-used-up' });
    const ofOther = turns.begin(other);
    end();
    (await ofOther)();
    await refused;
    await Promise.allSettled(waiting);
  });
});
