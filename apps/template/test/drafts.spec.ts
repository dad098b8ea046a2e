import { aCaller, type TestClient } from '@plinth/testing/http';
import { newId } from '@plinth/kernel/uuid';
import { published, saved, startTemplates, type Templates } from './start-templates';

describe('drafts of templates', () => {
  let service: Templates;
  let http: TestClient;
  beforeAll(async () => {
    service = await startTemplates();
  });
  beforeEach(() => {
    http = service.as(aCaller({ userId: 'ada' }));
  });
  afterAll(() => service.close());

  it('are created by POST and found at the address in Location', async () => {
    const { status, body, headers } = await http.post('/templates', {
      name: 'welcome mail',
      culture: 'fr-ca',
      content: 'Bonjour',
    });

    expect(status).toBe(201);
    expect(headers.get('location')).toBe('/api/v1/templates/welcome%20mail?culture=fr-CA');
    expect(body).toMatchObject({
      name: 'welcome mail',
      culture: 'fr-CA',
      draft: { content: 'Bonjour', mimeType: 'text/html', status: 0, createdBy: 'ada' },
    });
    expect(body.published).toBeUndefined();
    const found = await http.get('/templates/welcome%20mail?culture=fr-CA');
    expect(found.body).toEqual(body);
    expect(found.headers.get('etag')).toBe(headers.get('etag'));
    expect(found.headers.get('cache-control')).toBe('private, no-cache');
  });

  it('are created by POST once per name and culture', async () => {
    await saved(http, { name: 'a' });

    expect((await http.post('/templates', { name: 'a', content: 'x' })).status).toBe(409);
    expect((await http.post('/templates', { name: 'a', culture: 'fr', content: 'x' })).status).toBe(201);
  });

  it.each([
    ['without a name', { content: 'x' }, 'name', 'NotEmpty'],
    ['with an empty name', { name: '', content: 'x' }, 'name', 'NotEmpty'],
    ['with null for a name', { name: null, content: 'x' }, 'name', 'NotNull'],
    ['with a name of 201 characters', { name: 'n'.repeat(201), content: 'x' }, 'name', 'MaximumLength'],
    ['with a slash in its name', { name: 'a/b', content: 'x' }, 'name', 'Format'],
    ['with a tilde in its name', { name: 'a~b', content: 'x' }, 'name', 'Format'],
    ['called ..', { name: '..', content: 'x' }, 'name', 'Format'],
    ['called categories', { name: 'categories', content: 'x' }, 'name', 'Format'],
    ['without content', { name: 'a' }, 'content', 'NotEmpty'],
    ['in a culture that is none', { name: 'a', culture: 'not a culture', content: 'x' }, 'culture', 'Format'],
    ['of a media type that is none', { name: 'a', content: 'x', mimeType: 'html' }, 'mimeType', 'Format'],
    ['of an unknown category', { name: 'a', content: 'x', category: 'none' }, 'category', 'Enum'],
  ])('are refused %s', async (_, body, field, rule) => {
    const response = await http.post('/templates', body);

    expect(response.status).toBe(422);
    expect(response.body.errors[field]).toContain(`Service:Validation:${rule}Validator`);
  });

  it('may have a name of 200 characters, counted in code points', async () => {
    expect((await http.post('/templates', { name: '😀'.repeat(200), content: 'x' })).status).toBe(201);
  });

  it('are 400 when a field is of the wrong type', async () => {
    expect((await http.post('/templates', { name: 5, content: 'x' })).status).toBe(400);
    expect((await http.post('/templates', '{"name": ')).status).toBe(400);
  });

  it('are saved by PUT: 201 the first time, 200 after that', async () => {
    const first = await http.put('/templates/a', { name: 'a', content: 'one' });
    const second = await http.put('/templates/a', { name: 'a', content: 'two' });

    expect([first.status, second.status]).toEqual([201, 200]);
    expect(first.headers.get('location')).toBe('/api/v1/templates/a');
    expect(second.body.draft).toMatchObject({ content: 'two', status: 0 });
    expect(second.body.draft.revisionId).not.toBe(first.body.draft.revisionId);
  });

  it('keep their media type and category when PUT does not contain them', async () => {
    await http.post('/template-categories', { name: 'Mail' });
    await saved(http, { name: 'a', mimeType: 'text/plain', category: 'Mail' });

    const kept = await http.put('/templates/a', { name: 'a', content: 'x' });
    expect(kept.body).toMatchObject({ category: 'Mail', draft: { mimeType: 'text/plain' } });
    const cleared = await http.put('/templates/a', { name: 'a', content: 'x', category: null });
    expect(cleared.body.category).toBeUndefined();
  });

  it('cannot change their name', async () => {
    const response = await http.put('/templates/a', { name: 'b', content: 'x' });

    expect(response.status).toBe(422);
    expect(response.body.errors).toEqual({ name: ['Service:Validation:ImmutableValidator'] });
  });

  it('are not overwritten with a stale If-Match', async () => {
    const { headers } = await http.post('/templates', { name: 'a', content: 'one' });
    const ifMatch = { headers: { 'if-match': headers.get('etag')! } };
    expect((await http.put('/templates/a', { name: 'a', content: 'two' }, ifMatch)).status).toBe(200);

    const stale = await http.put('/templates/a', { name: 'a', content: 'three' }, ifMatch);

    expect(stale.status).toBe(409);
    expect((await http.delete('/templates/a', ifMatch)).status).toBe(409);
    expect((await http.get('/templates/a')).body.draft.content).toBe('two');
  });

  it('are created by one of several people who only create, and overwrite none', async () => {
    const onlyCreate = { headers: { 'if-none-match': '*' } };
    const create = (content: string) => http.put('/templates/a', { name: 'a', content }, onlyCreate);
    const statuses = (await Promise.all(['one', 'two', 'three'].map(create))).map(({ status }) => status);
    expect(statuses.sort()).toEqual([201, 409, 409]);
    const { content } = (await http.get('/templates/a')).body.draft;

    expect((await create('four')).body.type).toMatch(/\/problems\/stale-version$/);
    expect((await http.get('/templates/a')).body.draft.content).toBe(content);
    await http.delete('/templates/a');
    expect((await create('five')).status).toBe(201);
  });

  it('are 304 with a current If-None-Match', async () => {
    const { headers } = await http.post('/templates', { name: 'a', content: 'one' });

    const again = await http.get('/templates/a', { headers: { 'if-none-match': headers.get('etag')! } });

    expect(again.status).toBe(304);
  });

  it('are deleted with their template before it was published, and can be created again', async () => {
    await saved(http, { name: 'a' });
    await http.put('/templates/a', { name: 'a', content: 'newer' });

    expect((await http.delete('/templates/a')).status).toBe(204);
    expect((await http.get('/templates/a')).status).toBe(404);
    expect((await http.get('/templates/a/history')).status).toBe(404);
    expect((await http.get('/templates')).body.totalCount).toBe(0);
    expect((await http.delete('/templates/a')).status).toBe(404);

    await saved(http, { name: 'a', content: 'again' });
    const { revisions } = (await http.get('/templates/a/history')).body;
    expect(revisions.map(({ status }: { status: number }) => status)).toEqual([0, 3, 3]);
  });

  it('leave the published revision alone when deleted', async () => {
    await published(http, { name: 'a', content: 'public' });
    await http.put('/templates/a', { name: 'a', content: 'draft' });

    expect((await http.delete('/templates/a')).status).toBe(204);
    const { body } = await http.get('/templates/a');
    expect(body.draft).toBeUndefined();
    expect(body.published.content).toBe('public');
    expect((await http.delete('/templates/a')).status).toBe(404);
  });

  it('are 404 with the available cultures in a culture that does not exist', async () => {
    await saved(http, { name: 'a', culture: 'fr' });
    await saved(http, { name: 'a', culture: 'de-CH' });

    const { status, body, headers } = await http.get('/templates/a');

    expect(status).toBe(404);
    expect(headers.get('content-type')).toBe('application/problem+json');
    expect(body.availableCultures).toEqual(['de-CH', 'fr']);
    expect((await http.get('/templates/a?culture=%20')).status).toBe(400);
  });

  it('are created once when an operation is repeated', async () => {
    const caller = aCaller({ operationId: newId() });
    const first = await service.as(caller).post('/templates', { name: 'a', content: 'x' });
    const again = await service.as(caller).post('/templates', { name: 'a', content: 'x' });

    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.body).toEqual(first.body);
    const { revisions } = (await service.as(caller).get('/templates/a/history')).body;
    expect(revisions).toHaveLength(1);
  });

  it('are deleted once when an operation is repeated', async () => {
    const caller = aCaller();
    await saved(service.as(caller), { name: 'a' });
    const repeating = service.as({ ...caller, operationId: newId() });

    expect((await repeating.delete('/templates/a')).status).toBe(204);
    expect((await repeating.delete('/templates/a')).status).toBe(204);
    expect((await service.as(caller).delete('/templates/a')).status).toBe(404);
  });

  it('are 422 for another text under the idempotency key of an operation that was executed', async () => {
    const caller = aCaller({ operationId: newId() });
    const sending = (operationBodyHash: string, content: string) =>
      service.as({ ...caller, operationBodyHash }).put('/templates/a', { name: 'a', content });
    await sending('first', 'one');

    const other = await sending('second', 'two');

    expect(other).toMatchObject({ status: 422, body: { type: expect.stringContaining('payload-mismatch') } });
    expect(await sending('first', 'one')).toMatchObject({ status: 201, body: { draft: { content: 'one' } } });
  });

  it.each<[string, 'post' | 'put', string, object]>([
    ['POST of another name', 'post', '/templates', { name: 'b', content: 'x' }],
    [
      'POST of another name in a category',
      'post',
      '/templates',
      { name: 'b', content: 'x', category: 'Mail' },
    ],
    [
      'POST of another name in a category that is not there',
      'post',
      '/templates',
      { name: 'b', category: 'No' },
    ],
    ['POST of another culture', 'post', '/templates', { name: 'a', culture: 'de', content: 'x' }],
    ['PUT of another culture', 'put', '/templates/a', { name: 'a', culture: 'de', content: 'x' }],
  ])('are 422 for %s under the idempotency key of one that was executed', async (_, method, path, body) => {
    const caller = aCaller({ operationId: newId() });
    const sending = (operationBodyHash: string) => service.as({ ...caller, operationBodyHash });
    await service.as(aCaller({ tenantId: caller.tenantId })).post('/template-categories', { name: 'Mail' });
    const first = await sending('first')[method](path, { name: 'a', content: 'x' });

    const other = await sending('second')[method](path, { content: 'x', ...body });

    expect(first.status).toBe(201);
    expect(other).toMatchObject({ status: 422, body: { type: expect.stringContaining('payload-mismatch') } });
    expect((await service.as(caller).get('/templates')).body.totalCount).toBe(1);
  });

  it('are 201 for one, and 422 for the others, of many at once under one idempotency key', async () => {
    const caller = aCaller({ operationId: newId() });
    const saves = Array.from({ length: 8 }, (_, index) => {
      const http = service.as({ ...caller, operationBodyHash: `${index}` });
      const body = { name: 'a', culture: ['de', 'fr', 'it', 'en'][index % 4], content: 'x' };
      return index < 4
        ? http.put('/templates/a', body)
        : http.post('/templates', { ...body, name: `${index}` });
    });
    const statuses = (await Promise.all(saves)).map(({ status }) => status);

    expect(statuses.toSorted()).toEqual([201, ...Array(7).fill(422)]);
  });

  it('keep every one of many concurrent saves', async () => {
    const saves = Array.from({ length: 12 }, (_, index) =>
      http.put('/templates/a', { name: 'a', content: `v${index}` }),
    );
    const responses = await Promise.all(saves);

    expect(responses.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(11);
    const { revisions } = (await http.get('/templates/a/history')).body;
    expect(revisions.map(({ status }: { status: number }) => status)).toEqual([0, ...Array(11).fill(3)]);
  });

  it('are created by one of many requests at once, whether they are POST or PUT', async () => {
    const posts = Array.from({ length: 8 }, (_, index) =>
      http.post('/templates', { name: 'a', content: `v${index}` }),
    );
    const put = http.put('/templates/a', { name: 'a', content: 'put' });
    const statuses = (await Promise.all([...posts, put])).map(({ status }) => status);

    expect(statuses.filter((status) => status === 201)).toHaveLength(1);
    expect(statuses.slice(0, -1).filter((status) => status !== 201 && status !== 409)).toEqual([]);
    const { revisions } = (await http.get('/templates/a/history')).body;
    expect(revisions).toHaveLength(statuses.filter((status) => status < 300).length);
  });

  it('are created once by an operation that is repeated beside its first attempt', async () => {
    const repeating = service.as(aCaller({ operationId: newId() }));
    const attempts = Array.from({ length: 4 }, () =>
      repeating.post('/templates', { name: 'a', content: 'x' }),
    );
    const responses = await Promise.all(attempts);

    expect(responses.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
    expect(new Set(responses.map(({ body }) => body.lastModifiedAt)).size).toBe(1);
  });

  it('are 403 without the permission', async () => {
    const reader = service.as(aCaller({ permissions: ['Templating.Templates.Read'] }));
    const manager = service.as(aCaller({ permissions: ['Templating.Templates.Manage'] }));

    expect((await reader.post('/templates', { name: 'a', content: 'x' })).status).toBe(403);
    expect((await manager.post('/templates', { name: 'a', content: 'x' })).status).toBe(201);
    expect((await manager.get('/templates/a')).status).toBe(403);
    expect((await manager.post('/templates/a/publish')).status).toBe(403);
    expect((await reader.delete('/templates/a')).status).toBe(403);
  });

  it('are 404 for another tenant', async () => {
    const { draft } = await saved(http, { name: 'mine' });
    const other = service.as(aCaller());

    for (const path of [
      '/templates/mine',
      '/templates/mine/lifecycle',
      '/templates/mine/history',
      `/templates/mine/revisions/${draft.revisionId}`,
      '/templates/mine/variables',
    ]) {
      expect((await other.get(path)).status).toBe(404);
    }
    expect((await other.post('/templates/mine/preview', {})).status).toBe(404);
    expect((await other.post('/templates/mine/publish')).status).toBe(404);
    expect((await other.delete('/templates/mine')).status).toBe(404);
    expect((await other.get('/templates')).body.items).toEqual([]);
    expect((await http.get('/templates/mine')).status).toBe(200);
  });
});
