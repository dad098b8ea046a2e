import { eventType } from '@plinth/kernel/event';
import { newId } from '@plinth/kernel/uuid';
import { z } from 'zod';
import type { RawStatements, TenantDatabase } from '../postgres/postgres';
import { silentLog } from '../process/log';
import { appendToOutbox, PAYLOAD_BYTES_MAX, startOutboxRelay, wakingRelay } from './outbox';

const noted = eventType('tests.noted', z.object({ text: z.string() }));
const noting = (text: string) => ({ type: noted, tenantId: newId(), subject: 'x', payload: { text } });

describe('the relay of an outbox', () => {
  it.each([
    [
      'touches nothing before the process has ever been connected to NATS',
      new Promise<void>(() => undefined),
      0,
    ],
    ['looks for events from then on', undefined, 1],
  ])('%s', async (_name, connecting, transactions) => {
    const inPlatform = jest.fn().mockResolvedValue({ pass: {}, isFull: false });
    const relay = startOutboxRelay({ inPlatform } as never, { connecting } as never, silentLog());
    await relay.close();
    expect(inPlatform).toHaveBeenCalledTimes(transactions);
  });

  it('looks for events as soon as its process is connected to NATS, and not only at the next poll', async () => {
    const { promise: connecting, resolve: connect } = Promise.withResolvers<void>();
    const messaging: { connecting: Promise<void> | undefined } = { connecting };
    const { promise: looked, resolve: look } = Promise.withResolvers<void>();
    const inPlatform = async () => (look(), idle);
    const relay = startOutboxRelay({ inPlatform } as never, messaging as never, silentLog());
    messaging.connecting = undefined;
    connect();
    await looked;
    await relay.close();
  });

  const idle = { pass: {}, server: 'one', isFull: false, tenants: [] };
  const start = (...passes: (() => Promise<object>)[]) => {
    const inPlatform = jest.fn().mockResolvedValue(idle);
    for (const pass of passes) inPlatform.mockImplementationOnce(pass);
    const messaging = { check: async () => undefined };
    const relay = startOutboxRelay({ inPlatform } as never, messaging as never, silentLog());
    return { relay, inPlatform };
  };

  it.each(['during a pass', 'before it is closed'])(
    'publishes what is committed %s when it stops',
    async (when) => {
      const { promise: begun, resolve: end } = Promise.withResolvers<object>();
      const { relay, inPlatform } = start(() => begun);
      if (when === 'during a pass') relay.wake(relay.place());
      const closed = relay.close();
      if (when !== 'during a pass') relay.wake(relay.place());
      end(idle);
      await closed;
      expect(inPlatform).toHaveBeenCalledTimes(2);
    },
  );

  it('publishes all of it when it stops, and leaves what fails to others', async () => {
    const { promise: begun, resolve: end } = Promise.withResolvers<object>();
    const full = async () => ({ ...idle, isFull: true });
    const { relay, inPlatform } = start(
      () => begun,
      full,
      () => Promise.reject(new Error('away')),
    );
    const closed = relay.close();
    end(await full());
    await closed;
    expect(inPlatform).toHaveBeenCalledTimes(3);
  });

  it('does not wait long for a server that is away when it stops', async () => {
    jest.useFakeTimers();
    try {
      const { promise: begun, resolve: end } = Promise.withResolvers<object>();
      const { relay } = start(
        () => begun,
        () => new Promise(() => undefined),
      );
      relay.wake();
      let isClosed = false;
      void Promise.resolve(relay.close()).then(() => (isClosed = true));
      end(idle);
      await jest.advanceTimersByTimeAsync(1_900);
      expect(isClosed).toBe(false);
      await jest.advanceTimersByTimeAsync(200);
      expect(isClosed).toBe(true);
    } finally {
      jest.useRealTimers();
    }
  });

  it('looks through all of the outbox at once when another server took over', async () => {
    const { promise: looked, resolve: look } = Promise.withResolvers<void>();
    const other = { ...idle, server: 'other' };
    const { relay, inPlatform } = start(
      async () => idle,
      async () => {
        look();
        return other;
      },
      async () => other,
    );
    relay.wake();
    await looked;
    await relay.close();
    expect(inPlatform).toHaveBeenCalledTimes(3);
  });
});

describe('events of other tenants than those of the passes before', () => {
  it('are looked for among fewer that wait where that takes long, and among more where it does not', async () => {
    jest.useFakeTimers();
    const tenantId = newId();
    const row = {
      tenant_id: tenantId,
      occurred_at: new Date(),
      payload: {},
      bytes: 2,
      left: null,
      server: 'one',
    };
    const full = Array.from({ length: 200 }, (_, index) => ({
      ...row,
      id: newId(),
      sequence: BigInt(index),
    }));
    const looked: bigint[] = [];
    const tx = {
      $executeRawUnsafe: async () => 1,
      $queryRawUnsafe: async (statement: string, ...values: [number, bigint, string[], bigint]) => {
        if (!statement.includes('UPDATE outbox SET published_at')) return [{ oldest: '1', next: '1' }];
        const [, after, except, upTo] = values;
        if (except.length > 0) looked.push(upTo - after);
        const isSlow = except.length > 0 && looked.length <= 2;
        await new Promise((resolve) => setTimeout(resolve, isSlow ? 3_000 : 100));
        return full;
      },
    };
    const inPlatform = (work: (transaction: typeof tx) => Promise<unknown>) => work(tx);
    const messaging = {
      prefix: 'plinth',
      keys: ['key'],
      check: async () => undefined,
      jetstream: { publish: async () => undefined },
    };
    try {
      const relay = startOutboxRelay({ inPlatform } as never, messaging as never, silentLog());
      for (let turn = 0; looked.length < 4 && turn < 1_000; turn++) await jest.advanceTimersByTimeAsync(100);
      const closed = relay.close();
      await jest.advanceTimersByTimeAsync(5_000);
      await closed;
    } finally {
      jest.useRealTimers();
    }
    expect(looked.slice(0, 4)).toEqual([500_000n, 250_000n, 125_000n, 250_000n]);
  });
});

describe('a survey of an outbox', () => {
  it.each([
    ['fails', true],
    ['is what another process does', false],
  ])('goes on behind what it deleted, where the rest of it %s', async (_, isFailing) => {
    jest.useFakeTimers();
    const deletedTo = new Date(1_000);
    const deletedFrom: unknown[] = [];
    let locks = 0;
    const $queryRawUnsafe = async (statement: string, ...values: unknown[]) => {
      // Each step takes the lock alone: what expired, what is due, new subscriptions.
      if (statement.includes('pg_try_advisory_xact_lock')) return [{ taken: isFailing || locks++ % 3 === 0 }];
      if (statement.includes('DELETE FROM outbox')) {
        deletedFrom.push(values[0]);
        return [{ count: deletedFrom.length === 1 ? 1_000 : 0, upTo: deletedTo }];
      }
      if (statement.includes('check_at')) throw new Error('away');
      return [];
    };
    const tx = { $queryRawUnsafe, $executeRawUnsafe: async () => 1 };
    const inPlatform = (work: (transaction: typeof tx) => Promise<unknown>) => work(tx);
    try {
      const relay = startOutboxRelay({ inPlatform } as never, {} as never, silentLog(), {
        reconcileMilliseconds: 1_000,
      });
      await jest.advanceTimersByTimeAsync(5_000);
      const closed = relay.close();
      await jest.advanceTimersByTimeAsync(5_000);
      await closed;
    } finally {
      jest.useRealTimers();
    }
    expect(deletedFrom.slice(0, 2)).toEqual(['-infinity', deletedTo.toISOString()]);
  });
});

describe('a transaction whose commit was not answered', () => {
  const tx = { $executeRawUnsafe: async () => 1 } as unknown as RawStatements;
  const lost = async (_tenantId: string, work: (tx: RawStatements) => Promise<unknown>) => {
    await work(tx);
    throw new Error('The connection is lost.');
  };

  it('wakes the relay where it published, since it may have succeeded', async () => {
    const woken: (bigint | undefined)[] = [];
    const relay = { place: () => 7n, wake: (after?: bigint) => void woken.push(after) };
    const db = wakingRelay({ inTenant: lost } as never as TenantDatabase<RawStatements>, relay);
    await expect(db.inTenant(newId(), async () => undefined)).rejects.toThrow('lost');
    expect(woken).toEqual([]);

    await expect(db.inTenant(newId(), (own) => appendToOutbox(own, noting('x')))).rejects.toThrow('lost');
    expect(woken).toEqual([7n]);
  });
});

describe('an event that is larger than NATS takes', () => {
  const small = noting('é');
  const large = noting('é'.repeat(PAYLOAD_BYTES_MAX / 2));

  it.each([[[large]], [[small, large]]])(
    'is refused with its transaction, since it would keep all behind it from being published',
    async (events) => {
      const $executeRawUnsafe = jest.fn().mockResolvedValue(1);
      const tx = { $executeRawUnsafe } as unknown as RawStatements;
      await expect(appendToOutbox(tx, ...events)).rejects.toThrow(RangeError);
      expect($executeRawUnsafe).not.toHaveBeenCalled();

      await appendToOutbox(tx, ...Array.from({ length: 3 }, () => noting('x'.repeat(PAYLOAD_BYTES_MAX / 2))));
      expect($executeRawUnsafe).toHaveBeenCalledTimes(1);
    },
  );
});
