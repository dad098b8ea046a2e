import { newId } from '@plinth/kernel/uuid';
import { type aCaller } from '@plinth/testing/http';
import { aFile } from './a-file';
import {
  aStaffMember,
  aUser,
  everythingApplied,
  mention,
  startTimeline,
  type Timeline,
} from './start-timeline';

let timeline: Timeline;
beforeAll(async () => {
  timeline = await startTimeline();
});
afterAll(() => timeline.close());

type Caller = ReturnType<typeof aCaller>;

/** Everything that one caller can learn of an entity, in one value. */
async function everythingSeen(caller: Caller, path: string, files: readonly string[]) {
  const http = timeline.as(caller);
  const stream = (await http.get(path)).body;
  const walked: unknown[] = [];
  let cursor: string | null = '';
  let pages = 0;
  while (cursor !== null) {
    const page: { items: unknown[]; nextCursor: string | null } = (
      await http.get(`${path}?pageSize=2&cursor=${encodeURIComponent(cursor)}`)
    ).body;
    walked.push(...page.items);
    cursor = page.nextCursor;
    pages++;
  }
  return {
    stream,
    secondPage: (await http.get(`${path}?page=2&pageSize=2`)).body,
    walked,
    pages,
    followers: (await http.get(`${path}/followers`)).body,
    notifications: (await http.get('/notifications')).body,
    unread: (await http.get('/notifications/unread-count')).body,
    files: await Promise.all(files.map(async (id) => (await http.get(`/blobs/${id}`)).status)),
  };
}

describe('internal notes', () => {
  const setUp = async () => {
    const tenantId = newId();
    const people = {
      ann: aUser(tenantId, 'Ann'),
      bob: aUser(tenantId, 'Bob'),
      sam: aStaffMember(tenantId, 'Sam'),
      sue: aStaffMember(tenantId, 'Sue'),
      max: aUser(tenantId, 'Max', 'Timeline.Entries.Manage', 'Timeline.Followers.Manage'),
    };
    const path = `/timeline/Invoice/${newId()}`;
    for (const person of Object.values(people)) await timeline.as(person).get(path);
    return { ...people, path };
  };
  const write = async (caller: Caller, path: string, body: object) =>
    (await timeline.as(caller).post(`${path}/entries`, body)).body;

  it('leave no trace for whoever may not see them, through any endpoint', async () => {
    const { ann, bob, sam, max, path } = await setUp();
    await timeline.as(bob).post(`${path}/follow`);
    const visible = [
      await write(ann, path, { entryType: 0, body: 'one' }),
      await write(sam, path, { entryType: 0, body: 'two' }),
    ];
    await everythingApplied(timeline);
    const outsiders = [ann, bob, max];
    const before = await Promise.all(outsiders.map((person) => everythingSeen(person, path, [])));

    const upload = await timeline.as(sam).send('POST', '/blobs', aFile('secret.txt', 'secret'));
    const note = await write(sam, path, {
      entryType: 1,
      body: `secret ${mention(ann)} ${mention(bob)} ${mention(max)}`,
      parentEntryId: visible[0].id,
      attachmentBlobIds: [upload.body.id],
    });
    await write(sam, path, { entryType: 1, body: 'more', parentEntryId: note.id });
    await everythingApplied(timeline);

    for (const [index, person] of outsiders.entries()) {
      const after = await everythingSeen(person, path, [upload.body.id]);
      expect({ ...after, files: [] }).toEqual(before[index]);
      expect(after.files).toEqual([404]);
    }
  });

  it('cannot be removed, answered or fetched by whoever may not see them', async () => {
    const { ann, max, sam, path } = await setUp();
    const note = await write(sam, path, { entryType: 1, body: 'secret' });
    const status = async (caller: Caller, id: string) =>
      (await timeline.as(caller).delete(`${path}/entries/${id}`)).status;
    expect(await status(ann, note.id)).toBe(404);
    expect(await status(max, note.id)).toBe(404);
    expect((await timeline.as(ann).get(`${path}/entries/${note.id}`)).status).toBe(404);
    expect((await timeline.as(sam).get(`${path}/entries/${note.id}`)).body).toEqual(note);
    const answers = await Promise.all(
      [note.id, newId()].map((parentEntryId) =>
        timeline.as(ann).post(`${path}/entries`, { entryType: 0, body: 'x', parentEntryId }),
      ),
    );
    const [toNote, toNothing] = answers.map(({ status, body }) => ({
      status,
      errors: body.errors,
      detail: body.detail,
    }));
    expect(toNote).toEqual(toNothing);
  });

  it('are seen, counted and told to those who may see them', async () => {
    const { ann, sam, sue, path } = await setUp();
    await write(ann, path, { entryType: 0, body: 'for all' });
    const note = await write(sam, path, { entryType: 1, body: `for us ${mention(sue)}` });
    await everythingApplied(timeline);
    expect((await timeline.as(sue).get(path)).body).toMatchObject({
      totalCount: 2,
      items: [{ id: note.id }, {}],
    });
    expect((await timeline.as(ann).get(path)).body).toMatchObject({ totalCount: 1 });
    expect((await timeline.as(sue).get('/notifications')).body.items).toMatchObject([
      { entryId: note.id, kind: 'Mention' },
    ]);
    expect((await timeline.as(sue).get(`${path}/followers`)).body).toEqual([sue.userId]);
    expect((await timeline.as(ann).get(`${path}/followers`)).body).toEqual([]);
  });

  it('make nobody a visible follower until they follow for another reason', async () => {
    const { ann, bob, sam, path } = await setUp();
    await write(sam, path, { entryType: 1, body: `secret ${mention(bob)}` });
    await write(ann, path, { entryType: 0, body: 'told to nobody who only follows for a note' });
    await everythingApplied(timeline);
    expect((await timeline.as(bob).get('/notifications')).body.totalCount).toBe(0);
    await timeline.as(bob).post(`${path}/follow`);
    expect((await timeline.as(ann).get(`${path}/followers`)).body).toEqual([bob.userId]);
    await write(ann, path, { entryType: 0, body: 'told' });
    await everythingApplied(timeline);
    expect((await timeline.as(bob).get('/notifications')).body.totalCount).toBe(1);
  });

  it('are answered by internal notes only', async () => {
    const { sam, path } = await setUp();
    const note = await write(sam, path, { entryType: 1, body: 'secret' });
    const answer = (entryType: number) =>
      timeline.as(sam).post(`${path}/entries`, { entryType, body: 'answer', parentEntryId: note.id });
    const refused = await answer(0);
    expect(refused.status).toBe(422);
    expect(refused.body.errors).toEqual({ entryType: ['Service:Validation:EnumValidator'] });
    expect((await answer(1)).status).toBe(201);
  });

  it('tell other services no word of what they say', async () => {
    const { sam, path } = await setUp();
    await write(sam, path, { entryType: 1, body: 'the secret word' });
    const told = await timeline.db.inTenant(sam.tenantId, (tx) =>
      tx.$queryRawUnsafe<{ payload: object }[]>('SELECT payload, subject, actor_id, actor_name FROM outbox'),
    );
    expect(told).toHaveLength(1);
    expect(JSON.stringify(told)).not.toMatch(/secret|Sam/i);
    expect(Object.keys(told[0]!.payload).sort()).toEqual(['entityId', 'entityType', 'entryId', 'entryType']);
  });
});
