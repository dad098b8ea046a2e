import { entryAdded } from '@plinth/contracts/timeline/events';
import { newId } from '@plinth/kernel/uuid';
import { eventually } from '@plinth/testing/eventually';
import { aCaller } from '@plinth/testing/http';
import {
  aStaffMember,
  aUser,
  everythingApplied,
  mention,
  startTimeline,
  tellFact,
  type Timeline,
} from './start-timeline';

let timeline: Timeline;
beforeAll(async () => {
  timeline = await startTimeline();
});
afterAll(() => timeline.close());

const anEntity = () => `/timeline/Invoice/${newId()}`;
const comment = (body: string, more: object = {}) => ({ entryType: 0, body, ...more });
type Caller = ReturnType<typeof aCaller>;

const write = async (caller: Caller, path: string, body: object) =>
  (await timeline.as(caller).post(`${path}/entries`, body)).body;
const told = async (caller: Caller, query = '') =>
  (await timeline.as(caller).get(`/notifications${query}`)).body;
const unread = async (caller: Caller) =>
  (await timeline.as(caller).get('/notifications/unread-count')).body.count;

describe('notifications', () => {
  it('tell who is mentioned and who follows, each once, and nobody of their own', async () => {
    const tenantId = newId();
    const [ann, bob, cid] = ['Ann', 'Bob', 'Cid'].map((name) => aUser(tenantId, name)) as [
      Caller,
      Caller,
      Caller,
    ];
    const path = anEntity();
    await Promise.all([ann, bob, cid].map((user) => timeline.as(user).post(`${path}/follow`)));
    const entry = await write(
      ann,
      path,
      comment(`${mention(bob)} ${mention(bob)} ${mention(ann)} please look`),
    );
    await everythingApplied(timeline);

    expect((await told(bob)).items).toEqual([
      {
        id: expect.any(String),
        kind: 'Mention',
        entityType: 'Invoice',
        entityId: path.split('/').at(-1),
        entryId: entry.id,
        actorId: ann.userId,
        actorDisplayName: 'Ann',
        excerpt: '@Bob @Bob @Ann please look',
        createdAt: expect.any(String),
        readAt: null,
      },
    ]);
    expect((await told(cid)).items).toMatchObject([{ kind: 'Entry', entryId: entry.id }]);
    expect((await told(ann)).items).toEqual([]);
  });

  it('make who is mentioned follow the entity', async () => {
    const tenantId = newId();
    const [ann, bob] = [aUser(tenantId, 'Ann'), aUser(tenantId, 'Bob')];
    const path = anEntity();
    await timeline.as(bob).get(path);
    await write(ann, path, comment(`Hello ${mention(bob)}`));
    expect((await timeline.as(ann).get(`${path}/followers`)).body).toEqual([bob.userId]);
    await write(ann, path, comment('More'));
    await everythingApplied(timeline);
    expect((await told(bob)).items.map(({ kind }: { kind: string }) => kind)).toEqual(['Entry', 'Mention']);
  });

  it('wait for somebody who was mentioned before they first came, and show nobody else that they do', async () => {
    const tenantId = newId();
    const [ann, bob] = [aUser(tenantId, 'Ann'), aUser(tenantId, 'Bob')];
    const path = anEntity();
    await write(ann, path, comment(`Hello ${mention(bob)}`));
    await everythingApplied(timeline);
    expect((await timeline.as(ann).get(`${path}/followers`)).body).toEqual([]);
    expect(await unread(bob)).toBe(1);
    expect((await timeline.as(ann).get(`${path}/followers`)).body).toEqual([bob.userId]);
  });

  it('say names from the directory, whatever is typed between the brackets', async () => {
    const tenantId = newId();
    const [ann, bob] = [aUser(tenantId, 'Ann'), aUser(tenantId, 'Bob')];
    await unread(bob);
    const path = anEntity();
    const { body } = await write(
      ann,
      path,
      comment(`@[<b>The Boss</b>](user:${bob.userId}) @[you](user:nobody)`),
    );
    expect(body).toContain('<b>The Boss</b>');
    await everythingApplied(timeline);
    expect((await told(bob)).items[0].excerpt).toBe('@Bob @nobody');
  });

  it('do not cross tenants', async () => {
    const ann = aUser(newId(), 'Ann');
    const bob = aUser(newId(), 'Bob');
    await unread(bob);
    await write(ann, anEntity(), comment(`Hello ${mention(bob)}`));
    await everythingApplied(timeline);
    expect(await unread(bob)).toBe(0);
  });

  it('are one per entry and person when the fact comes again and again', async () => {
    const tenantId = newId();
    const [ann, bob] = [aUser(tenantId, 'Ann'), aUser(tenantId, 'Bob')];
    const path = anEntity();
    const entry = await write(ann, path, comment(`Hello ${mention(bob)}`));
    const payload = {
      entryId: entry.id,
      entityType: 'Invoice',
      entityId: entry.entityId,
      entryType: 0 as const,
    };
    const id = newId();
    await tellFact(timeline.natsPrefix, { type: entryAdded, tenantId, payload, id });
    await tellFact(timeline.natsPrefix, { type: entryAdded, tenantId, payload, id });
    await tellFact(timeline.natsPrefix, { type: entryAdded, tenantId, payload });
    await everythingApplied(timeline);
    await eventually(async () => (await notesOf(tenantId)) === 3);
    expect((await told(bob)).totalCount).toBe(1);
  });

  it('go with their entry', async () => {
    const tenantId = newId();
    const [ann, bob] = [aUser(tenantId, 'Ann'), aUser(tenantId, 'Bob')];
    const path = anEntity();
    const { id } = await write(ann, path, comment(`Hello ${mention(bob)}`));
    await everythingApplied(timeline);
    expect(await unread(bob)).toBe(1);
    await timeline.as(ann).delete(`${path}/entries/${id}`);
    expect(await unread(bob)).toBe(0);
    expect((await told(bob)).items).toEqual([]);
  });

  it('are listed in pages, by cursor, and without those that were read', async () => {
    const tenantId = newId();
    const [ann, bob] = [aUser(tenantId, 'Ann'), aUser(tenantId, 'Bob')];
    const path = anEntity();
    await timeline.as(bob).post(`${path}/follow`);
    for (let index = 0; index < 5; index++) await write(ann, path, comment(`entry ${index}`));
    await everythingApplied(timeline);

    expect(await told(bob, '?pageSize=2')).toMatchObject({ totalCount: 5, hasMore: true });
    const first = await told(bob, '?pageSize=3&cursor=');
    expect(first).toMatchObject({ totalCount: null, hasMore: true });
    const second = await told(bob, `?pageSize=3&cursor=${first.nextCursor}`);
    expect(second).toMatchObject({ hasMore: false, nextCursor: null });
    const all = [...first.items, ...second.items];
    expect(all.map(({ excerpt }) => excerpt)).toEqual([4, 3, 2, 1, 0].map((index) => `entry ${index}`));

    const read = await timeline.as(bob).post(`/notifications/${all[0].id}/read`);
    expect(read.status).toBe(204);
    expect(await unread(bob)).toBe(4);
    expect(await told(bob, '?quickFilters=unread')).toMatchObject({ totalCount: 4 });
    expect((await told(bob)).items[0].readAt).toEqual(expect.any(String));
    expect((await timeline.as(bob).post('/notifications/read-all')).status).toBe(204);
    expect(await unread(bob)).toBe(0);
  });

  it('of others can neither be read nor marked', async () => {
    const tenantId = newId();
    const [ann, bob] = [aUser(tenantId, 'Ann'), aUser(tenantId, 'Bob')];
    await write(ann, anEntity(), comment(`Hello ${mention(bob)}`));
    await everythingApplied(timeline);
    const { id } = (await told(bob)).items[0];
    expect((await timeline.as(ann).post(`/notifications/${id}/read`)).status).toBe(404);
    expect((await timeline.as(aCaller()).post(`/notifications/${id}/read`)).status).toBe(404);
    expect((await timeline.as(bob).post('/notifications/nonsense/read')).status).toBe(400);
    expect(await unread(bob)).toBe(1);
  });
});

const notesOf = async (tenantId: string): Promise<number> => {
  const [row] = await timeline.db.inTenant(tenantId, (tx) =>
    tx.$queryRawUnsafe<{ count: number }[]>('SELECT count(*)::int AS count FROM inbox'),
  );
  return row!.count;
};

describe('GET /notifications/stream', () => {
  interface Stream {
    next(): Promise<{ id: string; data: { entryId: string; excerpt: string } }>;
    close(): void;
  }

  const open = async (caller: Caller, lastEventId?: string): Promise<Stream> => {
    const { url, headers } = timeline.as(caller).address('GET', '/notifications/stream');
    const abort = new AbortController();
    const response = await fetch(url, {
      headers: { ...headers, ...(lastEventId ? { 'last-event-id': lastEventId } : {}) },
      signal: abort.signal,
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const chunks = response.body!.pipeThrough(new TextDecoderStream())[Symbol.asyncIterator]();
    let text = '';
    return {
      async next() {
        while (!text.includes('\n\n')) text += (await chunks.next()).value ?? '';
        const event = text.slice(0, text.indexOf('\n\n'));
        text = text.slice(event.length + 2);
        const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(event)?.[1] ?? '';
        expect(field('event')).toBe('notification');
        return { id: field('id'), data: JSON.parse(field('data')) };
      },
      close: () => abort.abort(),
    };
  };

  it('tells at once', async () => {
    const tenantId = newId();
    const [ann, bob] = [aUser(tenantId, 'Ann'), aUser(tenantId, 'Bob')];
    const stream = await open(bob);
    const before = Date.now();
    const entry = await write(ann, anEntity(), comment(`Hello ${mention(bob)}`));
    expect((await stream.next()).data).toMatchObject({
      entryId: entry.id,
      kind: 'Mention',
      excerpt: 'Hello @Bob',
    });
    expect(Date.now() - before).toBeLessThan(2_000);
    stream.close();
  });

  it('goes on after the last event that the client had, also when that is gone', async () => {
    const tenantId = newId();
    const [ann, bob] = [aUser(tenantId, 'Ann'), aUser(tenantId, 'Bob')];
    const path = anEntity();
    await timeline.as(bob).post(`${path}/follow`);
    const first = await open(bob);
    const one = await write(ann, path, comment('one'));
    const { id } = await first.next();
    first.close();
    await write(ann, path, comment('two'));
    await write(ann, path, comment('three'));
    await everythingApplied(timeline);

    const second = await open(bob, id);
    expect((await second.next()).data.excerpt).toBe('two');
    expect((await second.next()).data.excerpt).toBe('three');
    second.close();

    await timeline.as(ann).delete(`${path}/entries/${one.id}`);
    const third = await open(bob, id);
    expect((await third.next()).data.excerpt).toBe('two');
    third.close();
  });

  it('begins with what comes when the client says nothing of the past', async () => {
    const tenantId = newId();
    const [ann, sam] = [aUser(tenantId, 'Ann'), aStaffMember(tenantId, 'Sam')];
    const path = anEntity();
    await timeline.as(sam).post(`${path}/follow`);
    await write(ann, path, comment('before'));
    await everythingApplied(timeline);
    const stream = await open(sam);
    await write(ann, path, comment('after'));
    expect((await stream.next()).data.excerpt).toBe('after');
    stream.close();
  });

  it('ends when the service stops, so that a new process can take over', async () => {
    const other = await startTimeline();
    const caller = aUser(newId(), 'Ann');
    const { url, headers } = other.as(caller).address('GET', '/notifications/stream');
    const response = await fetch(url, { headers });
    other.health.drain();
    await response.text();
    await other.close();
  });
});
