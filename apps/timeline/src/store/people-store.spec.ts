import type { TenantDatabase } from '@plinth/runtime/postgres/postgres';
import type { Caller } from '@plinth/kernel/caller';
import type { Prisma } from '../generated/client';
import { peopleStore } from './people-store';

const caller: Caller = {
  tenantId: '00000000-0000-7000-8000-0000000000aa',
  tenantName: 'Acme',
  userId: 'ada',
  userName: 'Ada',
  permissions: [],
};

/** Records a person whose transaction is executed in its own way; returns what the quota counts then. */
async function countedAfter(executed: (work: () => Promise<unknown>) => Promise<unknown>): Promise<number> {
  let counted = 0;
  const quota = {
    tryTake: () => (counted++, true),
    giveBack: () => void counted--,
  };
  // Nobody is known before, so that each is inserted.
  const tx = {
    $executeRaw: async ([statement]: readonly string[]) => (statement!.includes('INSERT') ? 1 : 0),
  };
  const db = {
    inTenant: (_tenantId: string, work: (tx: unknown) => Promise<unknown>) => executed(() => work(tx)),
  } as unknown as TenantDatabase<Prisma.TransactionClient>;
  await peopleStore({ db, clock: { now: () => new Date(0) }, quota })
    .record(caller)
    .catch(() => undefined);
  return counted;
}

describe('the quota of the directory of people', () => {
  it('counts who is new once, also where the transaction is repeated', async () => {
    expect(await countedAfter((work) => work())).toBe(1);
    expect(await countedAfter(async (work) => (await work(), await work()))).toBe(1);
  });

  it('does not count who was not recorded', async () => {
    const failing = async (work: () => Promise<unknown>) => {
      await work();
      throw new Error('the connection broke');
    };
    expect(await countedAfter(failing)).toBe(0);
  });
});
