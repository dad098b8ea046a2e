import { onRollback, undoingOnRollback } from '@plinth/runtime/postgres/beside-transaction';
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

/** Records somebody in a transaction that fails once with a conflict, after which another process has recorded them. */
async function countedAfterConflict(): Promise<number> {
  let counted = 0;
  const quota = {
    tryTake: () => {
      counted++;
      onRollback(quota.giveBack);
      return true;
    },
    giveBack: () => void counted--,
  };
  const inTenant = async (_tenantId: string, work: (tx: unknown) => Promise<unknown>) => {
    const conflict = undoingOnRollback(async () => {
      await work({ $executeRaw: async () => 0 });
      throw new Error('could not serialize access');
    });
    await conflict.catch(() => undefined);
    return undoingOnRollback(() => work({ $executeRaw: async () => 1 }));
  };
  const db = { inTenant } as unknown as TenantDatabase<Prisma.TransactionClient>;
  await peopleStore({ db, clock: { now: () => new Date(0) }, quota }).record(caller);
  return counted;
}

/** Records somebody whom nobody knew when it was looked; returns what the quota counts then. */
async function countedAfter(inserted: 0 | 1): Promise<number> {
  let counted = 0;
  const quota = {
    tryTake: () => (counted++, true),
    giveBack: () => void counted--,
  };
  const tx = {
    $executeRaw: async ([statement]: readonly string[]) => (statement!.includes('INSERT') ? inserted : 0),
  };
  const db = {
    inTenant: (_tenantId: string, work: (tx: unknown) => Promise<unknown>) => work(tx),
  } as unknown as TenantDatabase<Prisma.TransactionClient>;
  await peopleStore({ db, clock: { now: () => new Date(0) }, quota }).record(caller);
  return counted;
}

describe('the quota of the directory of people', () => {
  it('counts who is new', async () => {
    expect(await countedAfter(1)).toBe(1);
  });

  it('does not count who was recorded by another process meanwhile', async () => {
    expect(await countedAfter(0)).toBe(0);
  });

  it('does not count them either where that made the transaction be repeated', async () => {
    expect(await countedAfterConflict()).toBe(0);
  });
});
