import { newId } from '@plinth/kernel/uuid';
import { aCaller } from '@plinth/testing/http';
import { startTimeline, type Timeline } from './start-timeline';

let timeline: Timeline;
beforeAll(async () => {
  timeline = await startTimeline();
});
afterAll(() => timeline.close());

describe('GET /timeline/mentions', () => {
  const meet = async (tenantId: string, ...names: string[]) => {
    for (const userName of names)
      await timeline.as(aCaller({ tenantId, userName })).get('/notifications/unread-count');
  };
  const suggested = async (tenantId: string, search: string) => {
    const me = aCaller({ tenantId, userName: 'Zoe' });
    const { body } = await timeline.as(me).get(`/timeline/mentions?search=${encodeURIComponent(search)}`);
    return body.map(({ displayName }: { displayName: string }) => displayName);
  };

  it('suggests people of the tenant, best match first', async () => {
    const tenantId = newId();
    await meet(tenantId, 'Joanna', 'Anna Berg', 'Ann', 'Berg, Anna', 'Karl');
    await meet(newId(), 'Anna of another tenant');
    expect(await suggested(tenantId, 'ann')).toEqual(['Ann', 'Anna Berg', 'Berg, Anna', 'Joanna']);
  });

  it('matches %, _ and backslashes literally', async () => {
    const tenantId = newId();
    await meet(tenantId, '100% Ann', 'snake_case', 'back\\slash', 'plain');
    expect(await suggested(tenantId, '%')).toEqual(['100% Ann']);
    expect(await suggested(tenantId, '_')).toEqual(['snake_case']);
    expect(await suggested(tenantId, '\\')).toEqual(['back\\slash']);
  });

  it('suggests 20 people at most, and without a search the first by name', async () => {
    const tenantId = newId();
    await meet(
      tenantId,
      ...Array.from({ length: 22 }, (_, index) => `Person ${String(index).padStart(2, '0')}`),
    );
    expect(await suggested(tenantId, 'person')).toHaveLength(20);
    const me = aCaller({ tenantId, userName: 'Zoe' });
    const { body } = await timeline.as(me).get('/timeline/mentions');
    expect(body[0]).toEqual({ id: expect.any(String), displayName: 'Person 00' });
  });

  it('shows people by the name in their last token', async () => {
    const caller = aCaller({ userName: 'Maiden Name' });
    await timeline.as(caller).get('/notifications/unread-count');
    await timeline.as({ ...caller, userName: 'Married Name' }).get('/notifications/unread-count');
    expect(await suggested(caller.tenantId, 'name')).toEqual(['Married Name']);
  });

  it('refuses a search of 501 characters', async () => {
    const { status } = await timeline.as(aCaller()).get(`/timeline/mentions?search=${'x'.repeat(501)}`);
    expect(status).toBe(422);
  });

  it('refuses a search that repeats itself, which would be compared with each character of each name', async () => {
    const { status, body } = await timeline.as(aCaller()).get(`/timeline/mentions?search=${'x'.repeat(200)}`);
    expect([status, body.errors]).toEqual([422, { search: ['Service:Validation:FormatValidator'] }]);
    expect(body.detail).toContain('repeats');
  });
});

describe('GET /timeline/people', () => {
  it('returns the names of people by their ids, of those who were seen in the tenant', async () => {
    const ann = aCaller({ userName: 'Ann' });
    const bob = aCaller({ tenantId: ann.tenantId, userName: 'Bob' });
    const eve = aCaller({ userName: 'Eve' });
    for (const caller of [ann, bob, eve]) await timeline.as(caller).get('/notifications/unread-count');

    const ids = [bob.userId, 'nobody', eve.userId, ann.userId].map(encodeURIComponent).join();
    const { body } = await timeline.as(ann).get(`/timeline/people?ids=${ids}`);

    expect(body).toEqual([
      { id: bob.userId, displayName: 'Bob' },
      { id: ann.userId, displayName: 'Ann' },
    ]);
  });

  it('refuses no id, an empty one, and more than 100', async () => {
    const queries = ['', '?ids=', '?ids=a,,b', `?ids=${Array(101).fill('a').join()}`];
    for (const query of queries)
      expect((await timeline.as(aCaller()).get(`/timeline/people${query}`)).status).toBe(422);
  });
});
