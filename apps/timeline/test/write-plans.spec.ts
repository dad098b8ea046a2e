import { SUGGESTIONS_MAX, TimelineEntryType } from '@plinth/contracts/timeline/shapes';
import { systemClock } from '@plinth/kernel/clock';
import type { Caller } from '@plinth/kernel/caller';
import { newIds } from '@plinth/kernel/new-ids';
import { newId } from '@plinth/kernel/uuid';
import { unrecordedBlobs } from '@plinth/runtime/blobs/unrecorded-blobs';
import type { TenantDatabase } from '@plinth/runtime/postgres/postgres';
import { aCaller } from '@plinth/testing/http';
import { firstRows } from '@plinth/testing/list-requests';
import { onTenantDatabase } from '@plinth/testing/on-tenant-database';
import { excessiveOf, readsUnderAllPlans, type TableRead } from '@plinth/testing/statement-plans';
import { createTestDatabase, type TestDatabase } from '@plinth/testing/test-database';
import type { PrismaPg } from '@prisma/adapter-pg';
import { PrismaClient, type Prisma } from '../src/generated/client';
import { blobKey, blobRecordStore } from '../src/store/blob-record-store';
import { dueEntries, LISTED_OF_TENANT } from '../src/store/due-entries';
import { entryStore } from '../src/store/entry-store';
import { followerStore } from '../src/store/follower-store';
import { createNotifications, notificationStore } from '../src/store/notification-store';
import { peopleStore } from '../src/store/people-store';
import { insertSystemLogs } from '../src/store/system-log-store';
import { fillTimeline } from './fill-timeline';

type Database = TenantDatabase<Prisma.TransactionClient>;
const createClient = (adapter: PrismaPg) => new PrismaClient({ adapter });

const ENTRIES = 20_000;
const unlimited = { take: () => undefined, tryTake: () => true, giveBack: () => undefined };

const NEWEST = firstRows('createdAt');

/** Entities whose ids were made together. */
const TOGETHER = newIds(32);

/** Follows, writes entries with all that follows from them in the inbox, removes them, and reads a notification. */
async function write(db: Database, caller: Caller): Promise<void> {
  const { tenantId } = caller;
  const entries = entryStore({ db, clock: systemClock, quota: unlimited, followerQuota: unlimited });
  const followers = followerStore({ db, clock: systemClock, quota: unlimited });
  const blobIds: string[] = [];
  const entities = ['long', '17'].map((entityId) => ({ entityType: 'Invoice', entityId }));
  for (const entity of entities) {
    for (const userId of [caller.userId, 'alan'])
      await followers.follow({ ...caller, operationId: newId() }, entity, userId);
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
    const file = {
      tenantId,
      id: blobId,
      fileName: 'a.txt',
      mimeType: 'text/plain',
      sizeBytes: 1n,
      sha256: '',
      uploadedBy: caller.userId,
      createdAt: new Date(),
      checkAt: null,
    };
    const unrecorded = unrecordedBlobs(db, { delete: async () => undefined });
    await unrecorded.begin({ tenantId, key: blobKey(tenantId, blobId) });
    await blobRecordStore(db).insert(file, () => undefined);
    expect(await blobRecordStore(db).exists(tenantId, blobId)).toBe(true);
    const reply = await write({ parentEntryId: parent.id, attachmentBlobIds: [blobId] });
    const notify = (entryIds: string[], quota: Pick<typeof unlimited, 'tryTake'>) =>
      db.inTenant(tenantId, (tx) => createNotifications(tx, tenantId, entryIds, new Date(), quota), 'once');
    await notify([reply.id], unlimited);
    // Of several entries, and beyond the quota.
    const another = await write({});
    const { userIds } = await notify([parent.id, another.id], { tryTake: () => false });
    expect(userIds).toEqual(['alan']);
    const signal = { wake: () => undefined };
    expect(await dueEntries({ db, clock: systemClock, quota: unlimited, signal }).notifyNext()).toBe(true);
    await entries.remove(entity, reply.id, caller);
    await followers.unfollow({ ...caller, operationId: newId() }, entity, caller.userId);
  }
  const people = peopleStore({ db, clock: systemClock, quota: unlimited });
  const newcomer = { ...caller, userId: newId() };
  await people.record(newcomer);
  await people.record({ ...newcomer, userName: 'Renamed' });
  const alan = { ...caller, userId: 'alan' };
  const notifications = notificationStore({ db, clock: systemClock });
  const [newest] = await notifications.since(alan, 0n, 1);
  expect(await notifications.markRead(alan, newest!.id)).toBe(true);
  const message = {
    key: 'workflow.moved',
    values: { previousState: 'Draft', newState: 'Submitted', comment: '' },
  };
  const log = (...ofEach: (readonly string[])[]) =>
    db.inTenant(
      tenantId,
      (tx) =>
        insertSystemLogs(
          tx,
          tenantId,
          ofEach.map((entityIds) => ({
            entityType: 'Invoice',
            entityIds,
            message,
            actorId: 'ada',
            actorName: 'Ada',
            at: new Date(),
          })),
          { sharesEntries: true },
        ),
      'once',
    );
  await log(['long', '17']);
  await log(TOGETHER);
  await log(['long'], ['17'], ['long']);
}

/** Reads timelines of entities with many entries, with one of each kind, and with one that is shared. */
async function read(db: Database, caller: Caller): Promise<void> {
  const entries = entryStore({ db, clock: systemClock, quota: unlimited, followerQuota: unlimited });
  const { tenantId } = caller;
  for (const seesInternal of [true, false]) {
    const audience = { tenantId, seesInternal };
    for (const entityId of ['long', '17', '18']) {
      const entity = { entityType: 'Invoice', entityId };
      const { rows } = await entries.page(audience, entity, NEWEST);
      expect(rows.length).toBeGreaterThan(0);
      const { createdAt, id } = rows[0]!;
      await entries.page(audience, entity, { ...NEWEST, after: [createdAt.toISOString(), id] });
      await entries.get(audience, entity, id);
      await entries.state(audience, entity);
    }
    await followerStore({ db, clock: systemClock, quota: unlimited }).list(audience, {
      entityType: 'Invoice',
      entityId: '18',
    });
  }
  const people = peopleStore({ db, clock: systemClock, quota: unlimited });
  expect(await people.isKnown(tenantId, '17')).toBe(true);
  for (const [search, count] of [
    ['', SUGGESTIONS_MAX],
    // Everybody has it twice, at the end and before.
    ['da', SUGGESTIONS_MAX],
    ['nobody', 0],
  ] as const)
    expect(await people.suggest(tenantId, search)).toHaveLength(count);
  await readNotifications(db, caller);
}

/** Reads notifications of people who have many, read and unread, and of one who has a few. */
async function readNotifications(db: Database, caller: Caller): Promise<void> {
  const notifications = notificationStore({ db, clock: systemClock });
  const [alan, boole] = ['alan', 'boole'].map((userId) => ({ ...caller, userId })) as [Caller, Caller];
  const [oldest] = await notifications.since(alan, 0n, 1);
  await notifications.since(alan, oldest!.sequence, 1);
  await notifications.positionOf(alan, undefined);
  await notifications.positionOf(alan, oldest!.id);
  for (const [user, ...quickFilters] of [[alan], [alan, 'unread'], [boole, 'unread']] as const)
    for (const list of [NEWEST, firstRows('createdAt', false)].map((one) => ({ ...one, quickFilters }))) {
      const { rows } = await notifications.list(user, list);
      const { createdAt, id } = rows[1]!;
      await notifications.list(user, { ...list, after: [createdAt.toISOString(), id] });
    }
  const someone = { ...caller, userId: '17' };
  expect(await notifications.unreadCount(someone)).toBe(0);
  for (const user of [alan, boole]) await notifications.unreadCount(user);
  await notifications.list(someone, NEWEST);
  await notifications.list(someone, { ...NEWEST, quickFilters: ['unread'] });
  await notifications.markAllRead(someone);
}

describe('the statements of a timeline', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase('timeline');
  });
  afterAll(() => database.drop());

  it('read no more rows than they are about, whatever the statistics know', async () => {
    const caller = aCaller();
    const reads = await readsUnderAllPlans(
      { ...database, fill: fillTimeline, isOfRequests: true },
      { id: caller.tenantId, rowCount: ENTRIES },
      (pool) =>
        onTenantDatabase(pool, createClient, async (db) => {
          await write(db, caller);
          await read(db, caller);
        }),
    );

    const isCount = ({ table, statement }: TableRead) =>
      table === 'notification' && statement.startsWith('SELECT COUNT');
    const isListing = ({ statement }: TableRead) => statement.includes('WITH RECURSIVE tenant');
    const isSearch = ({ statement }: TableRead) => statement.includes('FROM person_suffix AS found');
    const others = reads.filter((one) => !isCount(one) && !isListing(one) && !isSearch(one));
    expect(excessiveOf(others, 2)).toEqual([]);
    // Some due entries of each of two tenants.
    const listings = reads.filter(isListing);
    expect(listings.length).toBeGreaterThan(0);
    expect(excessiveOf(listings, 2 * LISTED_OF_TENANT)).toEqual([]);
    // People of a tenant all of whom hold what is searched for.
    const searches = reads.filter(isSearch);
    expect(searches.length).toBeGreaterThan(0);
    expect(excessiveOf(searches, SUGGESTIONS_MAX)).toEqual([]);
    // A count reads what it counts, and stops where a person can have no more.
    const counts = reads.filter(isCount);
    expect(counts.length).toBeGreaterThan(0);
    expect(counts.filter(({ rows }) => rows > 5_050)).toEqual([]);
  });
});
