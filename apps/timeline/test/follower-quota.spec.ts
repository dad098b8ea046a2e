import { RowQuota } from '@plinth/http/row-quota';
import { newId } from '@plinth/kernel/uuid';
import { silentLog } from '@plinth/runtime/process/log';
import { Client } from 'pg';
import { Registry } from 'prom-client';
import { EACH_FOLLOWER } from '../src/store/follower-store';
import { createNotifications } from '../src/store/notification-store';
import { allEventsProcessed, aUser, mention, startTimeline, type Timeline } from './start-timeline';

const QUOTA = 20;
const MORE_THAN_AT_ONCE = 30;

describe('the quotas of followers and notifications', () => {
  let timeline: Timeline;
  beforeAll(async () => {
    timeline = await startTimeline({
      environment: {
        TIMELINE_TENANT_FOLLOWERS_MAX: `${QUOTA}`,
        TIMELINE_TENANT_NOTIFICATIONS_MAX: `${QUOTA}`,
        TIMELINE_TENANT_PEOPLE_MAX: `${QUOTA}`,
      },
    });
  });
  afterAll(() => timeline.close());

  const anEntity = () => `/timeline/Invoice/${newId()}`;
  const refusals = async (quota: string) => {
    const { values } = await timeline.metrics.getSingleMetric('plinth_quota_refusals_total')!.get();
    return values.find(({ labels }) => labels['quota'] === quota)?.value ?? 0;
  };

  // What is written while rows are counted may count twice, and the first one not at all.
  it('refuse to follow more, keep what is followed, and let people be mentioned', async () => {
    const tenantId = newId();
    const [ann, bob] = [aUser(tenantId, 'Ann'), aUser(tenantId, 'Bob')];
    const http = timeline.as(ann);
    const kept = anEntity();
    expect((await http.post(`${kept}/follow`)).status).toBe(204);
    let refused = await http.post(`${anEntity()}/follow`);
    for (let count = 2; refused.status === 204 && count <= QUOTA + 1; count++)
      refused = await http.post(`${anEntity()}/follow`);
    expect({ status: refused.status, body: refused.body }).toMatchObject({
      status: 429,
      body: { quota: { name: 'followers', scope: 'tenant', limit: QUOTA } },
    });
    expect((await http.post(`${kept}/follow`)).status).toBe(204);
    expect((await timeline.as(aUser(newId(), 'Cid')).post(`${anEntity()}/follow`)).status).toBe(204);

    await timeline.as(bob).get(kept);
    const path = anEntity();
    const written = await http.post(`${path}/entries`, { entryType: 0, body: `${mention(bob)} look` });
    expect(written.status).toBe(201);
    await allEventsProcessed(timeline);
    expect((await http.get(`${path}/followers`)).body).toEqual([]);
    expect((await timeline.as(bob).get('/notifications')).body.items).toHaveLength(1);
  });

  it('count followers in an index that grows with their number, and not with their ids', async () => {
    const tenantId = newId();
    const admin = new Client({ connectionString: timeline.database!.adminUrl });
    await admin.connect();
    try {
      await admin.query(
        `INSERT INTO follower (tenant_id, entity_type, entity_id, user_id, internal, since)
         SELECT $1, 'Invoice', (SELECT string_agg(md5(n || '-' || part), '') FROM generate_series(1, 30) AS part), 'ada',
           false, now()
         FROM generate_series(1, 2000) AS n`,
        [tenantId],
      );
      // The whole table is read rather than any index where it has few rows.
      await admin.query('ANALYZE follower; SET enable_seqscan = off');
      const plans: string[] = [];
      const explain = async (statement: string, ...values: unknown[]) => {
        const { rows } = await admin.query(`EXPLAIN (FORMAT JSON) ${statement}`, values);
        plans.push(JSON.stringify(rows));
        return [{ rows: 2000 }];
      };
      const db = {
        inTenant: (_: string, work: (tx: never) => Promise<unknown>) =>
          work({ $queryRawUnsafe: explain } as never),
      };
      const names = { table: 'follower', where: EACH_FOLLOWER, quota: 'followers', what: 'followers' };
      const counted = { db: db as never, log: silentLog(), metrics: new Registry(), limit: 10_000, ...names };
      await new RowQuota(counted).whenKnown(tenantId, 5_000);
      expect(plans).toEqual([expect.stringMatching(/"Index Only Scan".*"follower_of_tenant"/)]);
    } finally {
      await admin.end();
    }
  });

  it('let people beyond the quota of the directory in, and know those who were there before', async () => {
    const tenantId = newId();
    const ann = aUser(tenantId, 'Ann');
    const nameOf = async ({ userId }: { userId: string }, reader = ann) =>
      (await timeline.as(reader).get(`/timeline/people?ids=${userId}`)).body;
    expect(await nameOf(ann)).toMatchObject([{ displayName: 'Ann' }]);
    for (let count = 0; count < QUOTA + 1; count++) await timeline.as(aUser(tenantId, 'Bob')).get(anEntity());
    const late = aUser(tenantId, 'Cid');
    expect((await timeline.as(late).get(anEntity())).status).toBe(200);
    expect(await nameOf(late)).toEqual([]);
    expect(await refusals('people')).toBeGreaterThan(0);
    expect(await nameOf(ann, { ...ann, userName: 'Ann Lee' })).toMatchObject([{ displayName: 'Ann Lee' }]);
  });

  it('notify who follows though the directory has no room for them, among however many and beyond the quota', async () => {
    const tenantId = newId();
    const ann = aUser(tenantId, 'Ann');
    const path = anEntity();
    for (let count = 0; count < QUOTA + 2; count++) await timeline.as(aUser(tenantId, 'Bob')).get(path);
    const late = aUser(tenantId, 'Cid');
    const write = async (body: string, entity = path) =>
      (await timeline.as(ann).post(`${entity}/entries`, { entryType: 0, body })).body.id as string;
    await write(mention(late));
    expect((await timeline.as(late).post(`${path}/follow`)).status).toBe(204);
    await timeline.db.inTenant(
      tenantId,
      (tx) => tx.$executeRaw`
        INSERT INTO follower (tenant_id, entity_type, entity_id, user_id, internal, since)
        SELECT ${tenantId}::uuid, 'Invoice', ${path.split('/').at(-1)}, 'nobody-' || n, false, now()
        FROM generate_series(1, ${MORE_THAN_AT_ONCE}::integer) AS n`,
    );
    const newestOf = async (user: typeof late) =>
      (await timeline.as(user).get('/notifications')).body.items[0].entryId;

    const entryId = await write('Hello');
    await allEventsProcessed(timeline);
    expect(await newestOf(late)).toBe(entryId);

    for (let count = 0; count < QUOTA; count++) await write(mention(aUser(tenantId, 'Nobody')), anEntity());
    await allEventsProcessed(timeline);
    const last = await write('Bye');
    await allEventsProcessed(timeline);
    expect(await newestOf(late)).toBe(last);
    expect((await timeline.as(late).get('/notifications')).body.totalCount).toBe(2);
  });

  it('write entries beyond them, and notify whom they know in exchange for their oldest notification', async () => {
    const tenantId = newId();
    const [ann, bob, cid] = ['Ann', 'Bob', 'Cid'].map((name) => aUser(tenantId, name));
    const path = anEntity();
    const write = async (body: string) => {
      const written = await timeline.as(ann!).post(`${path}/entries`, { entryType: 0, body });
      expect(written.status).toBe(201);
      return written.body.id as string;
    };
    const toldOf = async (user = bob!) => (await timeline.as(user).get('/notifications')).body;
    await timeline.as(bob!).post(`${path}/follow`);
    await toldOf(cid);
    for (let count = 0; count < 2 * QUOTA; count++) await write(mention(aUser(tenantId, 'Nobody')));
    await allEventsProcessed(timeline);
    const before = await refusals('notifications');
    const { totalCount } = await toldOf();

    const last = await write(mention(cid!));
    await allEventsProcessed(timeline);

    expect(await refusals('notifications')).toBe(before + 1);
    const [ofBob, ofCid] = [await toldOf(), await toldOf(cid)];
    expect(ofBob.totalCount).toBe(totalCount);
    expect([ofBob, ofCid].map(({ items }) => items[0].entryId)).toEqual([last, last]);
  });

  it('notify in exchange for the oldest notification while nobody knows how many there are', async () => {
    const tenantId = newId();
    const [ann, bob] = [aUser(tenantId, 'Ann'), aUser(tenantId, 'Bob')];
    const path = anEntity();
    const written = await timeline.as(ann).post(`${path}/entries`, { entryType: 0, body: 'Hello' });
    await allEventsProcessed(timeline);
    await timeline.as(bob).post(`${path}/follow`);
    await timeline.db.inTenant(
      tenantId,
      (tx) => tx.$executeRaw`UPDATE follower SET since = '2020-01-01' WHERE tenant_id = ${tenantId}::uuid`,
    );
    const db = { inTenant: () => Promise.reject(new Error('away')) };
    const names = { table: 'notification', quota: 'notifications', what: 'notifications' };
    const uncounted = { log: silentLog(), metrics: new Registry(), limit: 5, uncountedMin: 0, ...names };
    const quota = new RowQuota({ db, ...uncounted });
    const { userIds } = await timeline.db.inTenant(tenantId, (tx) =>
      createNotifications(tx, tenantId, [written.body.id], new Date(), quota),
    );
    expect(userIds).toEqual([bob.userId]);
  });
});
