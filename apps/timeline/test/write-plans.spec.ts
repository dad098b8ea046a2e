import { TimelineEntryType } from '@plinth/contracts/timeline/shapes';
import { systemClock } from '@plinth/kernel/clock';
import type { Caller } from '@plinth/kernel/caller';
import { newId } from '@plinth/kernel/uuid';
import type { TenantDatabase } from '@plinth/runtime/postgres/postgres';
import { aCaller } from '@plinth/testing/http';
import { onTenantDatabase } from '@plinth/testing/on-tenant-database';
import { excessiveOf, readsUnderAllPlans } from '@plinth/testing/statement-plans';
import { createTestDatabase, type TestDatabase } from '@plinth/testing/test-database';
import type { PrismaPg } from '@prisma/adapter-pg';
import type { Client } from 'pg';
import { PrismaClient, type Prisma } from '../src/generated/client';
import { entryStore } from '../src/store/entry-store';
import { followerStore } from '../src/store/follower-store';
import { createNotifications, notificationStore } from '../src/store/notification-store';
import { peopleStore } from '../src/store/people-store';
import { insertSystemLog } from '../src/store/system-log-store';

type Database = TenantDatabase<Prisma.TransactionClient>;
const createClient = (adapter: PrismaPg) => new PrismaClient({ adapter });

const ENTRIES = 20_000;
const unlimited = { take: () => undefined, tryTake: () => true };

/** Half of the entries are of one invoice, the others of one each; all have a file and a follower, and alan is notified of them. */
async function fillTimeline(admin: Client, tenantId: string, count: number): Promise<void> {
  const rows = {
    entry: `(tenant_id, id, entity_type, entity_id, entry_type, body, author_id, author_display_name, created_at)
      SELECT tenant, md5(tenant::text || n)::uuid, 'Invoice', CASE WHEN n % 2 = 0 THEN 'long' ELSE n::text END, 0, 'Paid', 'ada',
        'Ada', now()`,
    entry_count: `(tenant_id, entity_type, entity_id, public_count, internal_count)
      SELECT tenant, 'Invoice', n::text, 1, 0`,
    blob: `(tenant_id, id, file_name, mime_type, size_bytes, sha256, uploaded_by)
      SELECT tenant, md5(tenant::text || n)::uuid, 'a.txt', 'text/plain', 1, '', 'ada'`,
    attachment: `(tenant_id, entry_id, position, blob_id)
      SELECT tenant, md5(tenant::text || n)::uuid, 0, md5(tenant::text || n)::uuid`,
    follower: `(tenant_id, entity_type, entity_id, user_id, internal, since)
      SELECT tenant, 'Invoice', n::text, 'grace', false, now()`,
    person: `(tenant_id, user_id, display_name, seen_at) SELECT tenant, n::text, 'Ada', now()`,
    notification_count: `(tenant_id, user_id, last_sequence) SELECT tenant, n::text, 1`,
    notification: `(tenant_id, id, user_id, sequence, kind, internal, entry_id, created_at)
      SELECT tenant, gen_random_uuid(), 'alan', n, 'Entry', false, md5(tenant::text || n)::uuid, now()`,
    executed_operation: `(tenant_id, operation_id, result) SELECT tenant, gen_random_uuid()::text, '{}'`,
  };
  for (const [table, columns] of Object.entries(rows))
    await admin.query(
      `INSERT INTO ${table} ${columns} FROM (SELECT $1::uuid AS tenant) AS one, generate_series(1, $2::int) AS n`,
      [tenantId, count],
    );
}

/** Follows, writes entries with all that follows from them in the inbox, removes them, and reads a notification. */
async function write(db: Database, caller: Caller): Promise<void> {
  const { tenantId } = caller;
  const entries = entryStore({ db, clock: systemClock, quota: unlimited, followerQuota: unlimited });
  const followers = followerStore({ db, clock: systemClock, quota: unlimited });
  const blobIds: string[] = [];
  const entities = ['long', '17'].map((entityId) => ({ entityType: 'Invoice', entityId }));
  for (const entity of entities) {
    await followers.follow(tenantId, entity, caller.userId);
    const draft = {
      ...entity,
      entryType: TimelineEntryType.Comment,
      body: 'Paid @[Grace](grace)',
      parentEntryId: null,
      attachmentBlobIds: [] as string[],
      mentionedUserIds: ['grace'],
    };
    const write = (more: object) => entries.write({ ...draft, ...more }, { ...caller, operationId: newId() });
    const parent = await write({});
    const blobId = newId();
    blobIds.push(blobId);
    await db.inTenant(tenantId, (tx) =>
      tx.blob.create({
        data: {
          tenantId,
          id: blobId,
          fileName: 'a.txt',
          mimeType: 'text/plain',
          sizeBytes: 1,
          sha256: '',
          uploadedBy: caller.userId,
        },
      }),
    );
    const reply = await write({ parentEntryId: parent.id, attachmentBlobIds: [blobId] });
    await db.inTenant(
      tenantId,
      (tx) => createNotifications(tx, tenantId, reply.id, new Date(), unlimited),
      'once',
    );
    await entries.remove(entity, reply.id, caller);
    await followers.unfollow(tenantId, entity, caller.userId);
  }
  const people = peopleStore({ db, clock: systemClock });
  await people.record({ ...caller, userId: newId() });
  const alan = { ...caller, userId: 'alan' };
  const notifications = notificationStore({ db, clock: systemClock });
  const [newest] = await notifications.since(alan, BigInt(ENTRIES - 1), 1);
  expect(await notifications.markRead(alan, newest!.id)).toBe(true);
  const message = {
    key: 'workflow.moved',
    values: { previousState: 'Draft', newState: 'Submitted', comment: '' },
  };
  await db.inTenant(
    tenantId,
    (tx) =>
      insertSystemLog(
        tx,
        tenantId,
        { entityType: 'Invoice', entityIds: ['long', '17'], message },
        { actorId: 'ada', actorName: 'Ada', at: new Date() },
      ),
    'once',
  );
}

describe('the statements of a new entry', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase('timeline');
  });
  afterAll(() => database.drop());

  it('read no more rows than it is about, whatever the statistics know', async () => {
    const caller = aCaller();
    const reads = await readsUnderAllPlans(
      { ...database, fill: fillTimeline, isOfRequests: true },
      { id: caller.tenantId, rowCount: ENTRIES },
      (pool) => onTenantDatabase(pool, createClient, (db) => write(db, caller)),
    );

    expect(excessiveOf(reads, 2)).toEqual([]);
  });
});
