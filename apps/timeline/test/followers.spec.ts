import { createHash } from 'node:crypto';
import { FOLLOWERS_OF_ENTITY_MAX } from '@plinth/contracts/timeline/shapes';
import { newId } from '@plinth/kernel/uuid';
import { aCaller } from '@plinth/testing/http';
import { aUser, mention, startTimeline, type Timeline } from './start-timeline';

let timeline: Timeline;
beforeAll(async () => {
  timeline = await startTimeline();
});
afterAll(() => timeline.close());

const anEntity = () => `/timeline/Invoice/${newId()}`;

/** So many characters of four bytes, which Postgres cannot compress. */
const unlike = (seed: string, length: number): string =>
  Array.from({ length }, (_, index) =>
    String.fromCodePoint(
      0x20000 + (createHash('sha256').update(`${seed}${index}`).digest().readUInt16BE() % 40_000),
    ),
  ).join('');

describe('following an entity', () => {
  it('fits its index with the longest names, and is refused where the id has too many bytes', async () => {
    const user = { ...aUser(newId(), 'Ann'), userId: unlike('user', 255) };
    const follow = (id: string) =>
      timeline
        .as(user)
        .post(`/timeline/${encodeURIComponent(unlike('type', 100))}/${encodeURIComponent(id)}/follow`);
    expect((await follow(unlike('id', 300))).status).toBe(204);
    const { status, body } = await follow(unlike('id', 400));
    expect([status, body.errors]).toEqual([422, { entityId: ['Service:Validation:MaximumLengthValidator'] }]);
  });

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

  it('is started once per operation, and not by a retry after it was stopped', async () => {
    const ann = aUser(newId(), 'Ann');
    const http = timeline.as(ann);
    const path = anEntity();
    const retried = timeline.as({ ...ann, operationId: newId() });
    await retried.post(`${path}/follow`);
    await http.delete(`${path}/follow`);

    expect((await retried.post(`${path}/follow`)).status).toBe(204);
    expect((await http.get(`${path}/followers`)).body).toEqual([]);
  });

  it('is refused once an entity has so many that one event could not notify them', async () => {
    const tenantId = newId();
    const [ann, bob] = [aUser(tenantId, 'Ann'), aUser(tenantId, 'Bob')];
    const entityId = newId();
    const path = `/timeline/Invoice/${entityId}`;
    expect((await timeline.as(ann).post(`${path}/follow`)).status).toBe(204);
    await timeline.db.inTenant(
      tenantId,
      (tx) => tx.$executeRaw`
        INSERT INTO follower (tenant_id, entity_type, entity_id, user_id, internal, since)
        SELECT ${tenantId}::uuid, 'Invoice', ${entityId}, 'f' || n, false, now()
        FROM generate_series(1, ${FOLLOWERS_OF_ENTITY_MAX - 1}::integer) AS n`,
    );

    const refused = await timeline.as(bob).post(`${path}/follow`);

    expect({ status: refused.status, body: refused.body }).toMatchObject({
      status: 429,
      body: { quota: { name: 'entity-followers', limit: FOLLOWERS_OF_ENTITY_MAX } },
    });
    expect((await timeline.as(ann).post(`${path}/follow`)).status).toBe(204);
    const entry = { entryType: 0, body: mention(bob) };
    expect((await timeline.as(ann).post(`${path}/entries`, entry)).status).toBe(201);
    const followed = await timeline.db.inTenant(tenantId, (tx) => tx.follower.count({ where: { entityId } }));
    expect(followed).toBe(FOLLOWERS_OF_ENTITY_MAX);
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
