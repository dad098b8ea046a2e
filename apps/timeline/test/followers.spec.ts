import { newId } from '@plinth/kernel/uuid';
import { aCaller } from '@plinth/testing/http';
import { aUser, startTimeline, type Timeline } from './start-timeline';

let timeline: Timeline;
beforeAll(async () => {
  timeline = await startTimeline();
});
afterAll(() => timeline.close());

const anEntity = () => `/timeline/Invoice/${newId()}`;

describe('following an entity', () => {
  it('can be started and stopped, each repeatedly', async () => {
    const ann = aUser(newId(), 'Ann');
    const http = timeline.as(ann);
    const path = anEntity();
    const followers = async () => (await http.get(`${path}/followers`)).body;
    expect(await followers()).toEqual([]);
    expect((await http.post(`${path}/follow`)).status).toBe(204);
    expect((await http.post(`${path}/follow`, null)).status).toBe(204);
    expect(await followers()).toEqual([ann.userId]);
    expect((await http.delete(`${path}/follow`)).status).toBe(204);
    expect((await http.delete(`${path}/follow`)).status).toBe(204);
    expect(await followers()).toEqual([]);
  });

  it('accepts an empty body of type JSON', async () => {
    const http = timeline.as(aUser(newId(), 'Ann'));
    const options = { headers: { 'content-type': 'application/json' }, body: '' };
    expect((await http.send('POST', `${anEntity()}/follow`, options)).status).toBe(204);
  });

  it('is limited to the tenant and needs the permission to read', async () => {
    const path = anEntity();
    await timeline.as(aUser(newId(), 'Ann')).post(`${path}/follow`);
    expect((await timeline.as(aCaller()).get(`${path}/followers`)).body).toEqual([]);
    const stranger = timeline.as(aCaller({ permissions: [] }));
    expect((await stranger.post(`${path}/follow`)).status).toBe(403);
    expect((await stranger.delete(`${path}/follow`)).status).toBe(403);
    expect((await stranger.get(`${path}/followers`)).status).toBe(403);
  });

  it('can be started and stopped for another person by callers who manage followers', async () => {
    const tenantId = newId();
    const bob = aUser(tenantId, 'Bob');
    const manager = timeline.as(aUser(tenantId, 'Max', 'Timeline.Followers.Manage'));
    const path = anEntity();
    const ofBob = `${path}/followers/${encodeURIComponent(bob.userId)}`;
    expect((await manager.put(ofBob)).status).toBe(404);
    await timeline.as(bob).get(path);
    expect((await manager.put(ofBob)).status).toBe(204);
    expect((await manager.get(`${path}/followers`)).body).toEqual([bob.userId]);
    expect((await timeline.as(bob).delete(ofBob)).status).toBe(403);
    expect((await manager.delete(ofBob)).status).toBe(204);
    expect((await manager.get(`${path}/followers`)).body).toEqual([]);
  });
});
