import { newId } from '@plinth/kernel/uuid';
import { type aCaller } from '@plinth/testing/http';
import { aFile } from './a-file';
import {
  aStaffMember,
  aUser,
  allEventsProcessed,
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

  it('leave no trace in any endpoint for callers who may not see them', async () => {
    const { ann, bob, sam, max, path } = await setUp();
    await timeline.as(bob).post(`${path}/follow`);
    const visible = [
      await write(ann, path, { entryType: 0, body: 'one' }),
      await write(sam, path, { entryType: 0, body: 'two' }),
    ];
    await allEventsProcessed(timeline);
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
    await allEventsProcessed(timeline);

    for (const [index, person] of outsiders.entries()) {
      const after = await everythingSeen(person, path, [upload.body.id]);
      expect({ ...after, files: [] }).toEqual(before[index]);
      expect(after.files).toEqual([404]);
    }
  });

  it('cannot be removed, replied to or read by callers who may not see them', async () => {
    const { ann, max, sam, path } = await setUp();
    const note = await write(sam, path, { entryType: 1, body: 'secret' });
    const status = async (caller: Caller, id: string) =>
      (await timeline.as(caller).delete(`${path}/entries/${id}`)).status;
    expect(await status(ann, note.id)).toBe(404);
    expect(await status(max, note.id)).toBe(404);
    expect((await timeline.as(ann).get(`${path}/entries/${note.id}`)).status).toBe(404);
    expect((await timeline.as(sam).get(`${path}/entries/${note.id}`)).body).toEqual(note);
    const responses = await Promise.all(
      [note.id, newId()].map((parentEntryId) =>
        timeline.as(ann).post(`${path}/entries`, { entryType: 0, body: 'x', parentEntryId }),
      ),
    );
    const [toNote, toNothing] = responses.map(({ status, body }) => ({
      status,
      errors: body.errors,
      detail: body.detail,
    }));
    expect(toNote).toEqual(toNothing);
  });

  it('do not keep a file for its uploader, for whom it goes with the comment that it was attached to', async () => {
    const { ann, sam, path } = await setUp();
    const upload = await timeline.as(ann).send('POST', '/blobs', aFile('offer.txt', 'offer'));
    const attachmentBlobIds = [upload.body.id];
    const status = async (caller: Caller) =>
      (await timeline.as(caller).get(`/blobs/${upload.body.id}`)).status;
    const comment = await write(ann, path, { entryType: 0, body: 'our offer', attachmentBlobIds });
    await write(sam, path, { entryType: 1, body: 'their offer', attachmentBlobIds });
    expect([await status(ann), await status(sam)]).toEqual([200, 200]);
    await timeline.as(ann).delete(`${path}/entries/${comment.id}`);
    expect([await status(ann), await status(sam)]).toEqual([404, 200]);
    const again = { entryType: 0, body: 'our offer', attachmentBlobIds };
    expect((await timeline.as(ann).post(`${path}/entries`, again)).status).toBe(422);
  });

  it('are listed and counted for readers who may see them, and notify them', async () => {
    const { ann, sam, sue, path } = await setUp();
    await write(ann, path, { entryType: 0, body: 'for all' });
    const note = await write(sam, path, { entryType: 1, body: `for us ${mention(sue)}` });
    await allEventsProcessed(timeline);
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

  it('do not make mentioned people visible followers until they follow for another reason', async () => {
    const { ann, bob, sam, path } = await setUp();
    await write(sam, path, { entryType: 1, body: `secret ${mention(bob)}` });
    await write(ann, path, { entryType: 0, body: 'no notification for people who only follow for a note' });
    await allEventsProcessed(timeline);
    expect((await timeline.as(bob).get('/notifications')).body.totalCount).toBe(0);
    await timeline.as(bob).post(`${path}/follow`);
    expect((await timeline.as(ann).get(`${path}/followers`)).body).toEqual([bob.userId]);
    await write(ann, path, { entryType: 0, body: 'a notification' });
    await allEventsProcessed(timeline);
    expect((await timeline.as(bob).get('/notifications')).body.totalCount).toBe(1);
  });

  it('accept only internal notes as replies', async () => {
    const { sam, path } = await setUp();
    const note = await write(sam, path, { entryType: 1, body: 'secret' });
    const reply = (entryType: number) =>
      timeline.as(sam).post(`${path}/entries`, { entryType, body: 'reply', parentEntryId: note.id });
    const refused = await reply(0);
    expect(refused.status).toBe(422);
    expect(refused.body.errors).toEqual({ entryType: ['Service:Validation:EnumValidator'] });
    expect((await reply(1)).status).toBe(201);
  });

  it('are published without their text', async () => {
    const { sam, path } = await setUp();
    await write(sam, path, { entryType: 1, body: 'the secret word' });
    const published = await timeline.db.inTenant(sam.tenantId, (tx) =>
      tx.$queryRawUnsafe<{ payload: object }[]>('SELECT payload, subject, actor_id, actor_name FROM outbox'),
    );
    expect(published).toHaveLength(1);
    expect(JSON.stringify(published)).not.toMatch(/secret|Sam/i);
    expect(Object.keys(published[0]!.payload).sort()).toEqual([
      'entityId',
      'entityType',
      'entryId',
      'entryType',
    ]);
  });
});

describe('GET /timeline/{entityType}/{entityId}/events', () => {
  /** Reads the states of a stream one by one; undefined where none comes for a while. */
  const watch = async (caller: Caller, path: string) => {
    const { url, headers } = timeline.as(caller).address('GET', `${path}/events`);
    const abort = new AbortController();
    const response = await fetch(url, { headers, signal: abort.signal });
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const chunks = response.body!.pipeThrough(new TextDecoderStream())[Symbol.asyncIterator]();
    let text = '';
    return {
      async next(): Promise<{ newestEntryId: string | null; totalCount: number }> {
        while (!text.includes('\n\n')) text += (await chunks.next()).value ?? '';
        const [event = ''] = text.split('\n\n', 1);
        text = text.slice(event.length + 2);
        expect(event).toMatch(/^event: changed$/m);
        return JSON.parse(/^data: (.*)$/m.exec(event)![1]!);
      },
      close: () => abort.abort(),
    };
  };

  it('tells at once of what each reader sees, and nothing of internal notes to others', async () => {
    const tenantId = newId();
    const [ann, sam] = [aUser(tenantId, 'Ann'), aStaffMember(tenantId, 'Sam')];
    const path = `/timeline/Invoice/${newId()}`;
    const write = async (body: object) => (await timeline.as(sam).post(`${path}/entries`, body)).body.id;
    const [ofAnn, ofSam] = [await watch(ann, path), await watch(sam, path)];
    expect(await ofAnn.next()).toEqual({ newestEntryId: null, totalCount: 0 });
    expect(await ofSam.next()).toEqual({ newestEntryId: null, totalCount: 0 });

    const note = await write({ entryType: 1, body: 'Between us' });
    expect(await ofSam.next()).toEqual({ newestEntryId: note, totalCount: 1 });
    const comment = await write({ entryType: 0, body: 'For all' });
    expect(await ofAnn.next()).toEqual({ newestEntryId: comment, totalCount: 1 });
    expect(await ofSam.next()).toEqual({ newestEntryId: comment, totalCount: 2 });
    await timeline.as(sam).delete(`${path}/entries/${comment}`);
    expect(await ofAnn.next()).toEqual({ newestEntryId: null, totalCount: 0 });
    ofAnn.close();
    ofSam.close();
  });

  it('is refused without the permission to read', async () => {
    const nobody = { ...aUser(newId(), 'Ann'), permissions: [] };
    expect((await timeline.as(nobody).get('/timeline/Invoice/1/events')).status).toBe(403);
  });
});
