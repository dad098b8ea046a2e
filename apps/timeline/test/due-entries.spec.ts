import { TimelineEntryType } from '@plinth/contracts/timeline/shapes';
import { HOST_TENANT_ID } from '@plinth/kernel/caller';
import { systemClock } from '@plinth/kernel/clock';
import { newId } from '@plinth/kernel/uuid';
import { createPool, type TenantDatabase } from '@plinth/runtime/postgres/postgres';
import { silentLog } from '@plinth/runtime/process/log';
import { onTenantDatabase } from '@plinth/testing/on-tenant-database';
import { createTestDatabase } from '@plinth/testing/test-database';
import type { PrismaPg } from '@prisma/adapter-pg';
import { PrismaClient, type Prisma } from '../src/generated/client';
import { dueEntries, TENANTS_LISTED } from '../src/store/due-entries';
import { entryStore } from '../src/store/entry-store';
import { createNotifications } from '../src/store/notification-store';
import { allEventsProcessed, aUser, mention, startTimeline, type Timeline } from './start-timeline';

type Database = TenantDatabase<Prisma.TransactionClient>;

const MANY = 1_200;
const unlimited = { take: () => undefined, tryTake: () => true };

/** Adds followers, one who comes later than any entry, and some who never called in the tenant. */
const addFollowers = (db: Database, tenantId: string, entityId: string, count: number, strangers = 0) =>
  db.inTenant(tenantId, async (tx) => {
    await tx.$executeRaw`
      INSERT INTO follower (tenant_id, entity_type, entity_id, user_id, internal, since)
      SELECT ${tenantId}::uuid, 'Invoice', ${entityId}, md5(n::text), false,
        now() + CASE WHEN n = 0 THEN interval '1 hour' ELSE interval '-1 hour' END
      FROM generate_series(0, ${count + strangers}::integer) AS n`;
    await tx.$executeRaw`
      INSERT INTO person (tenant_id, user_id, display_name, seen_at)
      SELECT ${tenantId}::uuid, md5(n::text), 'Somebody', now() FROM generate_series(0, ${count}::integer) AS n`;
  });

const notificationsOf = (db: Database, tenantId: string, entryId: string) =>
  db.inTenant(
    tenantId,
    (tx) => tx.$queryRaw<{ userId: string; kind: string }[]>`
      SELECT user_id AS "userId", kind FROM notification
      WHERE tenant_id = ${tenantId}::uuid AND entry_id = ${entryId}::uuid`,
  );

describe('an entry of an entity with many followers', () => {
  let timeline: Timeline;
  beforeAll(async () => {
    timeline = await startTimeline();
  });
  afterAll(() => timeline.close());

  it('notifies each of them once who ever called, and whom it mentions of that', async () => {
    const tenantId = newId();
    const [ann, bob] = [aUser(tenantId, 'Ann'), aUser(tenantId, 'Bob')];
    const entityId = newId();
    const path = `/timeline/Invoice/${entityId}`;
    for (const user of [ann, bob]) await timeline.as(user).post(`${path}/follow`);
    await addFollowers(timeline.db, tenantId, entityId, MANY, 50);
    const body = `${mention(bob)} look`;
    const { body: entry } = await timeline.as(ann).post(`${path}/entries`, { entryType: 0, body });
    await allEventsProcessed(timeline);

    const all = await notificationsOf(timeline.db, tenantId, entry.id);
    expect(all).toHaveLength(MANY + 1);
    expect(new Set(all.map(({ userId }) => userId)).size).toBe(MANY + 1);
    expect(all.filter(({ kind }) => kind === 'Mention')).toEqual([{ userId: bob.userId, kind: 'Mention' }]);
    expect(all.map(({ userId }) => userId)).not.toContain(ann.userId);
  });

  it('wakes their streams', async () => {
    const tenantId = newId();
    const [ann, bob] = [aUser(tenantId, 'Ann'), aUser(tenantId, 'Bob')];
    const entityId = newId();
    const path = `/timeline/Invoice/${entityId}`;
    await addFollowers(timeline.db, tenantId, entityId, 30);
    await timeline.as(bob).post(`${path}/follow`);
    const { url, headers } = timeline.as(bob).address('GET', '/notifications/stream');
    const closing = new AbortController();
    const response = await fetch(url, { headers, signal: closing.signal });
    const chunks = response.body!.pipeThrough(new TextDecoderStream())[Symbol.asyncIterator]();
    await timeline.as(ann).post(`${path}/entries`, { entryType: 0, body: 'Hello' });
    let text = '';
    while (!text.includes(`New comment on Invoice ${entityId}`)) text += (await chunks.next()).value ?? '';
    closing.abort();
  });
});

describe('entries of entities with many followers', () => {
  /** Writes an entry, and processes its event. */
  async function write(db: Database, followers: number) {
    const caller = aUser(newId(), 'Ann');
    const { tenantId } = caller;
    const entityId = newId();
    await addFollowers(db, tenantId, entityId, followers);
    const entries = entryStore({ db, clock: systemClock, quota: unlimited, followerQuota: unlimited });
    const draft = {
      entityType: 'Invoice',
      entityId,
      entryType: TimelineEntryType.Comment,
      body: 'Hello',
      parentEntryId: null,
      attachmentBlobIds: [],
      mentionedUserIds: [],
    };
    const { id } = await entries.write(draft, caller);
    await db.inTenant(tenantId, (tx) => createNotifications(tx, tenantId, [id], new Date(), unlimited));
    return {
      remove: () => entries.remove(draft, id, caller),
      countNotifications: async () => (await notificationsOf(db, tenantId, id)).length,
    };
  }

  it('hold up no events, and take turns with those of other tenants', async () => {
    const database = await createTestDatabase('timeline');
    const pool = createPool(database.url, silentLog());
    const createClient = (adapter: PrismaPg) => new PrismaClient({ adapter });
    await onTenantDatabase<Prisma.TransactionClient>(pool, createClient, async (db) => {
      const signal = { wake: () => undefined };
      const due = dueEntries({ db, clock: systemClock, quota: unlimited, signal });
      const [large, removed, small, ordinary] = [
        await write(db, 2 * MANY),
        await write(db, MANY),
        await write(db, 30),
        await write(db, 5),
      ];
      // The event itself writes no more than it would for a few people.
      expect(await large.countNotifications()).toBe(0);
      expect(await ordinary.countNotifications()).toBe(5);

      await removed.remove();
      for (const _tenant of [large, removed, small]) expect(await due.notifyNext()).toBe(true);
      expect(await small.countNotifications()).toBe(30);
      expect(await large.countNotifications()).toBeLessThan(MANY);
      while (await due.notifyNext());
      expect(await large.countNotifications()).toBe(2 * MANY);

      const tenantIds = [HOST_TENANT_ID, ...Array.from({ length: TENANTS_LISTED + 19 }, () => newId())];
      for (const tenantId of tenantIds)
        await db.inTenant(
          tenantId,
          (tx) => tx.$executeRaw`
          INSERT INTO due_entry (tenant_id, entry_id) SELECT ${tenantId}::uuid, gen_random_uuid()
          FROM generate_series(1, 2)`,
        );
      const listedTenants: number[] = [];
      const watched: typeof db = {
        ...db,
        inPlatform: async (work) => {
          const result = await db.inPlatform(work);
          const { listed } = result as { listed: { tenantId: string }[] };
          listedTenants.push(new Set(listed.map(({ tenantId }) => tenantId)).size);
          return result;
        },
      };
      const many = dueEntries({ db: watched, clock: systemClock, quota: unlimited, signal });
      for (const _tenant of tenantIds) expect(await many.notifyNext()).toBe(true);
      const left = await db.inPlatform(
        (tx) => tx.$queryRaw`SELECT count(*)::int AS entries FROM due_entry GROUP BY tenant_id`,
      );
      expect(left).toEqual(tenantIds.map(() => ({ entries: 1 })));
      while (await many.notifyNext());
      expect(await db.inPlatform((tx) => tx.$queryRaw`SELECT FROM due_entry`)).toEqual([]);
      expect(Math.max(...listedTenants)).toBe(TENANTS_LISTED);
    });
    await pool.end();
    await database.drop();
  });
});
