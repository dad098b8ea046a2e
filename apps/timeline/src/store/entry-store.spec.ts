import { TimelineEntryType } from '@plinth/contracts/timeline/shapes';
import { systemClock } from '@plinth/kernel/clock';
import { newId } from '@plinth/kernel/uuid';
import type { RawStatements, TenantDatabase } from '@plinth/runtime/postgres/postgres';
import { collectSent } from '@plinth/runtime/postgres/raw-statements';
import type { Prisma } from '../generated/client';
import { entryStore } from './entry-store';

/** A database that answers nothing before a transaction has sent all of its statements. */
function silentDatabase() {
  const sent: string[] = [];
  const inTenant = async <Result>(_tenantId: string, work: (tx: never) => Promise<Result>) => {
    const tx: RawStatements = {
      $executeRawUnsafe: (query) => (sent.push(query), new Promise<number>(() => undefined)),
      $queryRawUnsafe: (query) => (sent.push(query), new Promise<never>(() => undefined)),
    };
    collectSent(tx, []);
    return work(tx as never);
  };
  return { sent, db: { inTenant } as unknown as TenantDatabase<Prisma.TransactionClient> };
}

describe('an entry of a person', () => {
  const caller = { tenantId: newId(), userId: 'ada', userName: 'Ada', permissions: [] };
  const draft = {
    entityType: 'Invoice',
    entityId: '17',
    entryType: TimelineEntryType.Comment,
    body: 'Paid',
    parentEntryId: null,
    attachmentBlobIds: [],
    mentionedUserIds: [],
  };
  const quota = { take: () => undefined, tryTake: () => true };

  it.each([
    ['with an idempotency key', { operationId: newId() }],
    ['without one', {}],
  ])('%s is one statement, for which nothing is waited before', async (_, operation) => {
    const { db, sent } = silentDatabase();
    const entries = entryStore({ db, clock: systemClock, quota, followerQuota: quota });

    const written = entries.write(draft, { ...caller, ...operation });
    const waiting = new Promise((resolve) => setImmediate(() => setImmediate(resolve, 'waits')));

    expect(await Promise.race([written, waiting])).toMatchObject({ body: 'Paid' });
    expect(sent).toHaveLength(1);
  });
});
