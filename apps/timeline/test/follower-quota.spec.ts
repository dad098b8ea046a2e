import { newId } from '@plinth/kernel/uuid';
import { allEventsProcessed, aUser, mention, startTimeline, type Timeline } from './start-timeline';

const QUOTA = 20;

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
    for (let count = 0; count < QUOTA + 1; count++) await http.post(`${anEntity()}/follow`);
    const refused = await http.post(`${anEntity()}/follow`);
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

  it('write entries beyond them, and notify nobody', async () => {
    const tenantId = newId();
    const [ann, bob] = [aUser(tenantId, 'Ann'), aUser(tenantId, 'Bob')];
    const path = anEntity();
    await timeline.as(bob).post(`${path}/follow`);
    for (let count = 0; count < 2 * QUOTA; count++) {
      const written = await timeline.as(ann).post(`${path}/entries`, { entryType: 0, body: 'Hello' });
      expect(written.status).toBe(201);
    }
    await allEventsProcessed(timeline);
    const before = await refusals('notifications');
    await timeline.as(ann).post(`${path}/entries`, { entryType: 0, body: 'Hello' });
    await allEventsProcessed(timeline);
    expect(await refusals('notifications')).toBe(before + 1);
    expect((await timeline.as(bob).get('/notifications')).body.totalCount).toBeLessThan(2 * QUOTA);
  });
});
