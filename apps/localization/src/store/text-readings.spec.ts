import type { TenantDatabase } from '@plinth/runtime/postgres/postgres';
import { turnsAt } from '@plinth/runtime/process/fair-places';
import type { Prisma } from '../generated/client';
import { overrideStore, TEXT_READINGS } from './override-store';
import { textListStore } from './text-list';

/** Stands for a database that answers when it is told to, and keeps by whom it is asked. */
function aDatabase() {
  const asked: string[] = [];
  const waiting: (() => void)[] = [];
  const inTenant = (tenantId: string) => {
    asked.push(tenantId);
    return new Promise<undefined>((resolve) => waiting.push(() => resolve(undefined)));
  };
  const answerAll = async (): Promise<void> => {
    while (waiting.length > 0) {
      waiting.shift()!();
      await new Promise(setImmediate);
    }
  };
  return { db: { inTenant } as unknown as TenantDatabase<Prisma.TransactionClient>, asked, answerAll };
}

describe('all texts of tenants', () => {
  const own = { search: '' };
  const page = { descending: false, limit: 1, offset: 0 };
  const turn = () => new Promise(setImmediate);

  it('are listed one of each at the same time, with room for the next tenant', async () => {
    const { db, asked, answerAll } = aDatabase();
    const list = textListStore(db, {});
    const all = Array.from({ length: 10 }, () => [
      list.drifted('acme', own, page),
      list.names('acme', { names: [], own, page, wantsTotalCount: true }),
    ]).flat();
    await turn();
    expect(asked).toEqual(['acme']);

    all.push(list.drifted('globex', own, page));
    await turn();
    expect(asked).toEqual(['acme', 'globex']);

    await answerAll();
    await Promise.all(all);
    expect(asked).toHaveLength(21);
  });

  it('are read while other tenants list theirs', async () => {
    const { db, asked, answerAll } = aDatabase();
    const list = textListStore(db, {});
    const quota = { take: () => undefined };
    const overrides = overrideStore(db, quota, turnsAt(TEXT_READINGS), () => undefined);
    const all: Promise<unknown>[] = ['acme', 'globex', 'initech'].map((tenantId) =>
      list.names(tenantId, { names: [], own, page, wantsTotalCount: true }),
    );
    all.push(overrides.list('hooli', { resourceName: 'Shop', cultureName: 'en' }));
    await turn();
    expect(asked).toEqual(['acme', 'globex', 'hooli']);

    await answerAll();
    await Promise.all(all);
  });
});
