import { unavailable } from '@plinth/kernel/problem';
import type { Log } from '@plinth/runtime/process/log';
import { CallNotSent } from '@plinth/runtime/rpc/grpc';
import type { DueVerification } from '../store/approval-store';
import { Verifications } from './verifications';

let now = new Date('2026-03-01T12:00:00Z').getTime();

/** Stands for the database and for owners, of which that of contacts is unavailable where `fails` says so. */
function start(requests: Record<string, readonly string[]>, fails: (id: string) => Error | undefined) {
  const waiting = new Map(Object.entries(requests).map(([tenantId, ids]) => [tenantId, [...ids]]));
  const asked: string[] = [];
  const logged: string[] = [];
  const [gate, reached] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const verifications = new Verifications({
    approvals: {
      tenantsToVerify: async () => [...waiting].filter(([, ids]) => ids.length > 0).map(([id]) => id),
      claimVerifications: async (tenantId, at, { until, without, limit }) => {
        expect([at.getTime(), until > at]).toEqual([now, true]);
        const due = waiting.get(tenantId)!;
        const isWithout = (id: string) => without.some((type) => id.startsWith(`${type} `));
        const ids = due.filter((id) => !isWithout(id)).slice(0, limit);
        waiting.set(
          tenantId,
          due.filter((id) => !ids.includes(id)),
        );
        const toVerification = (id: string): DueVerification => ({
          id,
          entityType: id.split(' ')[0]!,
          entityId: id,
          verifyAt: until,
        });
        return ids.map(toVerification);
      },
    },
    transitions: {
      verify: async (_tenantId, { id }) => {
        asked.push(id);
        if (asked.length === 4) reached.resolve();
        await gate.promise;
        const error = fails(id);
        if (error) throw error;
      },
    },
    clock: { now: () => new Date(now) },
    log: { warn: (_: unknown, message: string) => void logged.push(message) } as unknown as Log,
  });
  return { verifications, waiting, asked, logged, gate, reached };
}

const ids = (type: string, count: number) => Array.from({ length: count }, (_, at) => `${type} ${at}`);
const down = (id: string) => (id.startsWith('Contact') ? unavailable('away') : undefined);

describe('requests that are to be verified', () => {
  it('of one type are left as they are for a while after the first failure of its owner, and others go on', async () => {
    const requests = { acme: [...ids('Contact', 30), ...ids('Template', 3)], globex: ids('Contact', 5) };
    const { verifications, waiting, asked, logged, gate, reached } = start(requests, down);

    const pass = (async () => {
      while (await verifications.verifyDue());
    })();
    await reached.promise;
    expect(asked).toEqual(ids('Contact', 4));
    gate.resolve();
    await pass;

    // What fails for one tenant is asked for another one.
    expect(asked).toEqual([...ids('Contact', 4), ...ids('Contact', 4), ...ids('Template', 3)]);
    expect(logged).toHaveLength(2);
    expect(waiting.get('acme')).toHaveLength(10);

    waiting.set('initech', ids('Contact', 1));
    await verifications.verifyDue();
    expect(waiting.get('initech')).toHaveLength(1);
    now += 30_000;
    await verifications.verifyDue();
    expect(asked).toHaveLength(16);
  });

  it('end the turn of a tenant that has too many calls, and say nothing about the owner by that', async () => {
    const requests = { acme: ids('Template', 10), globex: ids('Template', 2) };
    const { verifications, asked, gate } = start(requests, (id) =>
      id === 'Template 3' ? new CallNotSent('template') : undefined,
    );
    gate.resolve();
    await verifications.verifyDue();
    expect(asked.length).toBeLessThan(12);
    expect(asked.slice(-2)).toEqual(ids('Template', 2));
  });

  it('are tried again, and keep no others of their type where they alone fail', async () => {
    const { verifications, waiting, asked, logged, gate } = start(
      { acme: [...ids('Template', 10), 'Contact 0'] },
      (id) => (id === 'Template 0' ? new Error('fails always') : down(id)),
    );
    gate.resolve();
    expect(await verifications.verifyDue()).toBe(false);
    expect(asked).toHaveLength(11);
    expect(logged).toHaveLength(2);

    waiting.set('acme', ['Contact 0']);
    await verifications.verifyDue();
    expect(asked).toHaveLength(11);
    now += 30_000;
    await verifications.verifyDue();
    expect(asked).toHaveLength(12);
  });

  it('are begun no more once the process ends', async () => {
    const { verifications, asked, gate, reached } = start({ acme: ids('Template', 50) }, down);
    const ending = new AbortController();
    const pass = verifications.verifyDue(ending.signal);
    await reached.promise;
    ending.abort();
    gate.resolve();
    await pass;
    expect(asked).toHaveLength(4);
  });

  it('have their turn, whatever another tenant has', async () => {
    const { verifications, asked, gate } = start({ acme: ids('Template', 50), globex: ['Order 1'] }, down);
    gate.resolve();
    expect(await verifications.verifyDue()).toBe(true);
    expect(asked).toEqual([...ids('Template', 20), 'Order 1']);
  });
});
