import { systemClock } from '@plinth/kernel/clock';
import { newId } from '@plinth/kernel/uuid';
import { behindLock } from '@plinth/testing/behind-a-lock';
import { aCaller } from '@plinth/testing/http';
import { interruptedDatabase } from '@plinth/testing/interrupted-database';
import { firstRows } from '@plinth/testing/list-requests';
import { createTestDatabase } from '@plinth/testing/test-database';
import { Client } from 'pg';
import { entryStore } from '../src/store/entry-store';
import { aStaffMember, aUser, startTimeline, type Timeline } from './start-timeline';

let timeline: Timeline;
beforeAll(async () => {
  timeline = await startTimeline();
});
afterAll(() => timeline.close());

const anEntity = () => `/timeline/Invoice/${newId()}`;
const comment = (body: string, more: object = {}) => ({ entryType: 0, body, ...more });

describe('POST /timeline/{entityType}/{entityId}/entries', () => {
  it('creates an entry with its author and its location', async () => {
    const ann = aUser(newId(), 'Ann');
    const path = anEntity();
    const response = await timeline.as(ann).post(`${path}/entries`, comment('Hello'));
    expect(response.status).toBe(201);
    expect(response.headers.get('location')).toBe(`/api/v1${path}/entries/${response.body.id}`);
    expect(response.body).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
      entityType: 'Invoice',
      entityId: path.split('/').at(-1),
      entryType: 0,
      body: 'Hello',
      authorId: ann.userId,
      authorDisplayName: 'Ann',
      parentEntryId: null,
      createdAt: expect.any(String),
      attachmentBlobIds: [],
    });
  });

  it('refuses a reply to an entry that is removed at the same moment', async () => {
    const http = timeline.as(aUser(newId(), 'Ann'));
    const path = `${anEntity()}/entries`;
    const { body: parent } = await http.post(path, comment('Hello'));
    const removed = { text: 'DELETE FROM entry WHERE id = $1', values: [parent.id] };

    const [reply] = await behindLock(timeline.database!.adminUrl, [removed], () =>
      http.post(path, comment('Hello yourself', { parentEntryId: parent.id })),
    );

    expect(reply!.status).toBe(422);
  });

  it('creates an entry that can be read at its location until it is removed', async () => {
    const http = timeline.as(aUser(newId(), 'Ann'));
    const made = await http.post(`${anEntity()}/entries`, comment('Hello'));
    const address = made.headers.get('location')!.slice('/api/v1'.length);
    expect(await http.get(address)).toMatchObject({ status: 200, body: made.body });
    expect((await timeline.as(aUser(newId(), 'Eve')).get(address)).status).toBe(404);
    expect((await http.get(`${anEntity()}/entries/${made.body.id}`)).status).toBe(404);
    await http.delete(address);
    expect((await http.get(address)).status).toBe(404);
  });

  it('accepts entity ids that need percent-encoding', async () => {
    const http = timeline.as(aUser(newId(), 'Ann'));
    const path = `/timeline/purchase-order/${encodeURIComponent('a/b ü?#%')}`;
    const made = await http.post(`${path}/entries`, comment('Hello'));
    expect(made.body.entityId).toBe('a/b ü?#%');
    expect((await http.get(path)).body.items).toHaveLength(1);
    expect((await http.delete(made.headers.get('location')!.slice('/api/v1'.length))).status).toBe(204);
  });

  it('accepts entity types in any letters, with blanks, of up to 100 characters', async () => {
    const http = timeline.as(aUser(newId(), 'Ann'));
    for (const type of ['Pièce comptable', '4711', 'a/b?#%', '請求書', '𝕏'.repeat(100)]) {
      const path = `/timeline/${encodeURIComponent(type)}/1`;
      const made = await http.post(`${path}/entries`, comment('Hello'));
      expect([made.status, made.body.entityType]).toEqual([201, type]);
      expect((await http.get(made.headers.get('location')!.slice('/api/v1'.length))).status).toBe(200);
      expect((await http.get(path)).body.totalCount).toBe(1);
    }
  });

  it('takes two spellings of the same characters for one entity type', async () => {
    const http = timeline.as(aUser(newId(), 'Ann'));
    const made = await http.post(
      `/timeline/${encodeURIComponent('Pie\u0300ce')}/1/entries`,
      comment('Hello'),
    );
    expect(made.body.entityType).toBe('Pi\u00e8ce');
    expect((await http.get(`/timeline/${encodeURIComponent('Pi\u00e8ce')}/1`)).body.totalCount).toBe(1);
  });

  it.each(['a\0b', 'a\nb', 'a\u007fb', 'a\u0085b', ' ', '𝕏'.repeat(101)])(
    'refuses the entity type %j',
    async (type) => {
      const http = timeline.as(aUser(newId(), 'Ann'));
      const path = `/timeline/${encodeURIComponent(type)}/1`;
      expect((await http.post(`${path}/entries`, comment('Hello'))).status).toBe(400);
      expect((await http.get(path)).status).toBe(400);
    },
  );

  it.each<[string, object, number, object | undefined]>([
    ['without a type', { body: 'x' }, 422, { entryType: ['Service:Validation:NotEmptyValidator'] }],
    ['without a body', { entryType: 0 }, 422, { body: ['Service:Validation:NotEmptyValidator'] }],
    ['with an empty body', comment(' '), 422, { body: ['Service:Validation:NotEmptyValidator'] }],
    [
      'with null for a body',
      { entryType: 0, body: null },
      422,
      { body: ['Service:Validation:NotNullValidator'] },
    ],
    ['with a number for a body', { entryType: 0, body: 1 }, 400, undefined],
    ['with a type as text', { entryType: 'Comment', body: 'x' }, 400, undefined],
    ['with a type that is no integer', { entryType: 0.5, body: 'x' }, 400, undefined],
    ['of the system', { entryType: 2, body: 'x' }, 422, { entryType: ['Service:Validation:EnumValidator'] }],
    [
      'of an unknown type',
      { entryType: 9, body: 'x' },
      422,
      { entryType: ['Service:Validation:EnumValidator'] },
    ],
    [
      'with 65,537 characters',
      comment('é'.repeat(65_537)),
      422,
      { body: ['Service:Validation:MaximumLengthValidator'] },
    ],
    [
      'whose JSON is larger than that of any text',
      comment(`a${'\u0001'.repeat(65_535)}`),
      422,
      { body: ['Service:Validation:MaximumLengthValidator'] },
    ],
    [
      'with 51 mentions',
      comment('@[x](user:y)'.repeat(51)),
      422,
      { body: ['Service:Validation:RangeValidator'] },
    ],
    [
      'with an unknown parent',
      comment('x', { parentEntryId: '01900000-0000-7000-8000-000000000001' }),
      422,
      { parentEntryId: ['Service:Validation:FormatValidator'] },
    ],
    [
      'with an unknown file',
      comment('x', { attachmentBlobIds: ['01900000-0000-7000-8000-000000000001'] }),
      422,
      { 'attachmentBlobIds[0]': ['Service:Validation:FormatValidator'] },
    ],
    [
      'with 21 files',
      comment('x', { attachmentBlobIds: Array.from({ length: 21 }, newId) }),
      422,
      { attachmentBlobIds: ['Service:Validation:MaximumLengthValidator'] },
    ],
  ])('refuses an entry %s', async (_description, body, status, errors) => {
    const response = await timeline.as(aUser(newId(), 'Ann')).post(`${anEntity()}/entries`, body);
    expect(response.status).toBe(status);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    if (errors) expect(response.body.errors).toEqual(errors);
  });

  it('accepts a body of 65,536 characters and returns it unchanged', async () => {
    const http = timeline.as(aUser(newId(), 'Ann'));
    const path = anEntity();
    const body = `e\u0301 ${'𝕏'.repeat(65_533)}`;
    expect((await http.post(`${path}/entries`, comment(body))).status).toBe(201);
    expect((await http.get(path)).body.items[0].body).toBe(body);
  });

  it('sends the largest page there can be of the largest bodies', async () => {
    const ann = aUser(newId(), 'Ann');
    const http = timeline.as(ann);
    const path = anEntity();
    // Six bytes of JSON for each control character, and one for each letter.
    const body = '\u0001'.repeat(39_321) + 'x'.repeat(26_215);
    expect((await http.post(`${path}/entries`, comment(body))).status).toBe(201);
    await timeline.db.inTenant(
      ann.tenantId,
      (tx) => tx.$executeRaw`
        INSERT INTO entry (tenant_id, id, entity_type, entity_id, entry_type, body, author_id, author_display_name, created_at)
        SELECT tenant_id, gen_random_uuid(), entity_type, entity_id, entry_type, body, author_id, author_display_name, created_at
        FROM entry, generate_series(1, 99) WHERE tenant_id = ${ann.tenantId}::uuid`,
    );
    const page = await http.get(`${path}?pageSize=100`);
    expect([page.status, page.body.items.length]).toEqual([200, 100]);
  });

  it.each(['\t"\r\n', '𝕏\u007f'])('accepts a body of nothing but %j, however long', async (some) => {
    const http = timeline.as(aUser(newId(), 'Ann'));
    const body = `x${some.repeat(Math.floor(65_535 / [...some].length))}`;
    expect((await http.post(`${anEntity()}/entries`, comment(body))).status).toBe(201);
  });

  it('refuses NUL and unpaired surrogates', async () => {
    const http = timeline.as(aUser(newId(), 'Ann'));
    expect((await http.post(`${anEntity()}/entries`, comment('a\0b'))).status).toBe(422);
    expect((await http.post(`${anEntity()}/entries`, '{"entryType":0,"body":"\\ud800"}', json)).status).toBe(
      422,
    );
  });

  it('accepts replies to replies, and keeps them when their parent is removed', async () => {
    const http = timeline.as(aUser(newId(), 'Ann'));
    const path = anEntity();
    const first = (await http.post(`${path}/entries`, comment('first'))).body;
    const second = (await http.post(`${path}/entries`, comment('second', { parentEntryId: first.id }))).body;
    const third = (await http.post(`${path}/entries`, comment('third', { parentEntryId: second.id }))).body;
    await http.delete(`${path}/entries/${second.id}`);
    const { items, totalCount } = (await http.get(path)).body;
    expect(totalCount).toBe(2);
    expect(items.map(({ id }: { id: string }) => id)).toEqual([third.id, first.id]);
    expect(items[0].parentEntryId).toBe(second.id);
  });

  it('refuses a reply to an entry of another entity', async () => {
    const http = timeline.as(aUser(newId(), 'Ann'));
    const { id } = (await http.post(`${anEntity()}/entries`, comment('elsewhere'))).body;
    expect((await http.post(`${anEntity()}/entries`, comment('x', { parentEntryId: id }))).status).toBe(422);
  });

  it('stores the right time in every time zone of the database server', async () => {
    const database = await createTestDatabase('timeline');
    const admin = new Client({ connectionString: database.adminUrl });
    await admin.connect();
    await admin.query(
      `ALTER DATABASE ${new URL(database.url).pathname.slice(1)} SET timezone TO 'Asia/Tokyo'`,
    );
    await admin.end();
    const inTokyo = await startTimeline({ databaseUrl: database.url });
    const http = inTokyo.as(aUser(newId(), 'Ann'));
    const { createdAt } = (await http.post('/timeline/Invoice/1/entries', comment('now'))).body;
    const [entry] = (await http.get('/timeline/Invoice/1')).body.items;
    expect(entry.createdAt).toBe(createdAt);
    await inTokyo.close();
    await database.drop();
  });

  it('ignores author, time and entity in the body of the request', async () => {
    const ann = aUser(newId(), 'Ann');
    const forged = {
      id: newId(),
      authorId: 'bob',
      authorDisplayName: 'Bob',
      tenantId: newId(),
      createdAt: '2000-01-01',
    };
    const { body } = await timeline.as(ann).post(`${anEntity()}/entries`, comment('x', forged));
    expect(body).toMatchObject({ authorId: ann.userId, authorDisplayName: 'Ann' });
    expect(body.id).not.toBe(forged.id);
  });

  it('creates one entry for simultaneous attempts of one operation', async () => {
    const ann = { ...aUser(newId(), 'Ann'), operationId: newId() };
    const path = anEntity();
    const tries = Array.from({ length: 8 }, () => timeline.as(ann).post(`${path}/entries`, comment('once')));
    const responses = await Promise.all(tries);
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(responses.map(({ body }) => body.id)).size).toBe(1);
    expect((await timeline.as(ann).get(path)).body.totalCount).toBe(1);
  });

  it('removes an entry once for all attempts of one operation', async () => {
    const ann = aUser(newId(), 'Ann');
    const path = anEntity();
    const { id } = (await timeline.as(ann).post(`${path}/entries`, comment('x'))).body;
    const retried = timeline.as({ ...ann, operationId: newId() });
    const remove = () => retried.delete(`${path}/entries/${id}`);

    expect((await Promise.all([remove(), remove()])).map(({ status }) => status)).toEqual([204, 204]);
    expect((await remove()).status).toBe(204);
    expect((await timeline.as(ann).delete(`${path}/entries/${id}`)).status).toBe(404);
    expect((await timeline.as(ann).get(path)).body.totalCount).toBe(0);
  });

  it('needs the permission to create', async () => {
    const reader = aCaller({ permissions: ['Timeline.Entries.Read'] });
    expect((await timeline.as(reader).post(`${anEntity()}/entries`, comment('x'))).status).toBe(403);
  });

  it('needs a permission for internal notes', async () => {
    const tenantId = newId();
    const note = { entryType: 1, body: 'between us' };
    expect((await timeline.as(aUser(tenantId, 'Ann')).post(`${anEntity()}/entries`, note)).status).toBe(403);
    expect(
      (await timeline.as(aStaffMember(tenantId, 'Sam')).post(`${anEntity()}/entries`, note)).status,
    ).toBe(201);
  });
});

describe('DELETE /timeline/{entityType}/{entityId}/entries/{id}', () => {
  it('removes an entry for its author and for callers who manage entries', async () => {
    const tenantId = newId();
    const ann = timeline.as(aUser(tenantId, 'Ann'));
    const path = anEntity();
    const made = await Promise.all(['a', 'b'].map((body) => ann.post(`${path}/entries`, comment(body))));
    const [first, second] = made.map(({ body }) => `${path}/entries/${body.id}`);
    expect((await timeline.as(aUser(tenantId, 'Bob')).delete(first!)).status).toBe(403);
    expect((await ann.delete(first!)).status).toBe(204);
    expect(
      (await timeline.as(aUser(tenantId, 'Max', 'Timeline.Entries.Manage')).delete(second!)).status,
    ).toBe(204);
    expect((await ann.get(path)).body).toEqual({ items: [], totalCount: 0, nextCursor: null });
  });

  it('is 404 the second time, for another entity and in another tenant', async () => {
    const http = timeline.as(aUser(newId(), 'Ann'));
    const path = anEntity();
    const { id } = (await http.post(`${path}/entries`, comment('x'))).body;
    expect((await http.delete(`${anEntity()}/entries/${id}`)).status).toBe(404);
    expect((await timeline.as(aCaller()).delete(`${path}/entries/${id}`)).status).toBe(404);
    expect((await http.delete(`${path}/entries/${id}`)).status).toBe(204);
    expect((await http.delete(`${path}/entries/${id}`)).status).toBe(404);
    expect((await http.delete(`${path}/entries/nonsense`)).status).toBe(400);
  });

  it('keeps the count right when many requests remove the same entry at once', async () => {
    const http = timeline.as(aUser(newId(), 'Ann'));
    const path = anEntity();
    await http.post(`${path}/entries`, comment('stays'));
    const { id } = (await http.post(`${path}/entries`, comment('goes'))).body;
    const statuses = (
      await Promise.all(Array.from({ length: 8 }, () => http.delete(`${path}/entries/${id}`)))
    ).map(({ status }) => status);
    expect(statuses.filter((status) => status === 204)).toHaveLength(1);
    expect((await http.get(path)).body.totalCount).toBe(1);
  });

  it('is refused for callers without any permission for timelines', async () => {
    const stranger = aCaller({ permissions: [] });
    expect((await timeline.as(stranger).delete(`${anEntity()}/entries/${newId()}`)).status).toBe(403);
  });
});

describe('GET /timeline/{entityType}/{entityId}', () => {
  const write = async (http: ReturnType<Timeline['as']>, path: string, count: number): Promise<string[]> => {
    const ids: string[] = [];
    for (let index = 0; index < count; index++) {
      ids.push((await http.post(`${path}/entries`, comment(`entry ${index}`))).body.id);
    }
    return ids.reverse();
  };
  const idsOf = ({ body }: { body: { items: { id: string }[] } }) => body.items.map(({ id }) => id);

  it('returns an empty stream for an entity without entries', async () => {
    const response = await timeline.as(aCaller()).get(anEntity());
    expect(response.body).toEqual({ items: [], totalCount: 0, nextCursor: null });
    expect(response.headers.get('cache-control')).toBe('private, no-store');
  });

  it('returns pages of 20, newest first, with the total count', async () => {
    const http = timeline.as(aUser(newId(), 'Ann'));
    const path = anEntity();
    const ids = await write(http, path, 23);
    const first = await http.get(path);
    expect(idsOf(first)).toEqual(ids.slice(0, 20));
    expect(first.body).toMatchObject({ totalCount: 23, nextCursor: null });
    expect(idsOf(await http.get(`${path}?page=2`))).toEqual(ids.slice(20));
    expect(idsOf(await http.get(`${path}?page=3&pageSize=5`))).toEqual(ids.slice(10, 15));
  });

  it('is read by cursor without gaps or repetitions while entries are added and removed', async () => {
    const http = timeline.as(aUser(newId(), 'Ann'));
    const path = anEntity();
    const ids = await write(http, path, 12);
    const visited: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page = await http.get(`${path}?pageSize=5&cursor=${encodeURIComponent(cursor)}`);
      expect(page.body.totalCount).toEqual(expect.any(Number));
      visited.push(...idsOf(page));
      cursor = page.body.nextCursor;
      await http.post(`${path}/entries`, comment('meanwhile'));
      await http.delete(`${path}/entries/${page.body.items.at(-1).id}`);
    }
    expect(visited).toEqual(ids);
  });

  it('shows entries and how many there are as they are at one instant, also where one is removed meanwhile', async () => {
    const ann = aUser(newId(), 'Ann');
    const path = anEntity();
    const [id] = await write(timeline.as(ann), path, 1);
    const removing = () => timeline.as(ann).delete(`${path}/entries/${id}`);
    const db = interruptedDatabase(timeline.db, 'timelineEntry.findMany', removing);
    const quota = { take: () => undefined, tryTake: () => true };
    const { page } = entryStore({ db, clock: systemClock, quota, followerQuota: quota });
    const entity = { entityType: 'Invoice', entityId: path.split('/').at(-1)! };

    const { rows, totalCount } = await page(
      { tenantId: ann.tenantId, seesInternal: false },
      entity,
      firstRows('createdAt'),
    );

    expect([rows.length, totalCount]).toEqual([1, 1]);
    expect((await timeline.as(ann).get(path)).body.totalCount).toBe(0);
  });

  it('can be read oldest first, by cursor too', async () => {
    const http = timeline.as(aUser(newId(), 'Ann'));
    const path = anEntity();
    const ids = (await write(http, path, 5)).reverse();
    const first = await http.get(`${path}?sort=createdAt&pageSize=3&cursor=`);
    const second = await http.get(`${path}?sort=createdAt&pageSize=3&cursor=${first.body.nextCursor}`);
    expect([...idsOf(first), ...idsOf(second)]).toEqual(ids);
    expect((await http.get(`${path}?cursor=${first.body.nextCursor}`)).status).toBe(400);
  });

  it('refuses changed cursors, cursors of other streams and tenants, and a page with a cursor', async () => {
    const http = timeline.as(aUser(newId(), 'Ann'));
    const path = anEntity();
    await write(http, path, 3);
    const { nextCursor } = (await http.get(`${path}?pageSize=2&cursor=`)).body;
    const status = async (client: typeof http, query: string, at = path) =>
      (await client.get(`${at}?${query}`)).status;
    expect(await status(http, `cursor=${nextCursor}`)).toBe(200);
    expect(await status(http, `cursor=${nextCursor}`, anEntity())).toBe(400);
    expect(await status(timeline.as(aCaller()), `cursor=${nextCursor}`)).toBe(400);
    expect(await status(http, `page=1&cursor=${nextCursor}`)).toBe(400);
    for (let index = 0; index < nextCursor.length; index++) {
      const other = nextCursor[index] === 'A' ? 'B' : 'A';
      const changed = nextCursor.slice(0, index) + other + nextCursor.slice(index + 1);
      expect(await status(http, `cursor=${changed}`)).toBe(400);
    }
  });

  it.each([
    'page=0',
    'page=x',
    'pageSize=0',
    'pageSize=1.5',
    'sort=body',
    'filter[body.eq]=x',
    'page=9999999',
    'cursor=%00',
  ])('refuses %s', async (query) => {
    const { status } = await timeline.as(aCaller()).get(`${anEntity()}?${query}`);
    expect([400, 422]).toContain(status);
  });

  it('needs the permission to read', async () => {
    expect((await timeline.as(aCaller({ permissions: [] })).get(anEntity())).status).toBe(403);
  });
});

const json = { headers: { 'content-type': 'application/json' } };
