import { newId } from '@plinth/kernel/uuid';
import { aCaller, type TestClient } from '@plinth/testing/http';
import { published, saved, startTemplates, type Templates } from './start-templates';

type Tx = Parameters<Parameters<Templates['db']['inTenant']>[1]>[0];

let service: Templates;
let http: TestClient;
beforeAll(async () => {
  service = await startTemplates();
});
beforeEach(() => {
  http = service.as(aCaller({ userId: 'ada' }));
});
afterAll(() => service.close());

describe('GET /templates', () => {
  const names = (response: { body: { items: { name: string }[] } }) =>
    response.body.items.map(({ name }) => name);

  beforeEach(async () => {
    await http.post('/template-categories', { name: 'Mail' });
    await saved(http, { name: 'welcome', category: 'Mail' });
    await published(http, { name: 'invoice', culture: 'fr' });
    await saved(http, { name: '100%_sure', mimeType: 'text/plain' });
  });

  it('lists newest first with all fields of a list', async () => {
    const { status, body, headers } = await http.get('/templates');

    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('private, no-store');
    expect(body).toMatchObject({ totalCount: 3, hasMore: false });
    expect(body.items).toEqual([
      expect.objectContaining({
        name: '100%_sure',
        status: 0,
        mimeType: 'text/plain',
        hasPublishedVersion: false,
      }),
      expect.objectContaining({
        name: 'invoice',
        culture: 'fr',
        status: 2,
        hasPublishedVersion: true,
        lastModifiedBy: 'ada',
      }),
      expect.objectContaining({ name: 'welcome', category: 'Mail' }),
    ]);
  });

  it.each([
    ['search=WELC', ['welcome']],
    ['search=mail', ['welcome']],
    ['search=%25_', ['100%_sure']],
    ['status=Published', ['invoice']],
    ['status=published', ['invoice']],
    ['status=2', ['invoice']],
    ['status=0&sort=name', ['100%_sure', 'welcome']],
    ['category=Mail', ['welcome']],
    ['culture=fr', ['invoice']],
    ['culture=FR', ['invoice']],
    ['filter[name.startsWith]=INV', ['invoice']],
    ['filter[Status.Eq]=Draft&sort=-name', ['welcome', '100%_sure']],
    ['filter[category.eq]=Mail', ['welcome']],
    ['filter[mimeType.in]=text/plain,x/y', ['100%_sure']],
    ['filter[lastModifiedAt.gt]=2020-01-01&sort=name&pageSize=1', ['100%_sure']],
    ['sort=-category,name', ['welcome', '100%_sure', 'invoice']],
    ['page=2&pageSize=2&sort=name', ['welcome']],
  ])('understands %s', async (query, expected) => {
    const response = await http.get(`/templates?${query}`);

    expect(response.status).toBe(200);
    expect(names(response)).toEqual(expected);
  });

  it.each([
    'status=Gone',
    'status=9',
    'sort=content',
    'filter[content.eq]=x',
    'filter[status.contains]=D',
    'page=0',
    'pageSize=x',
    'cursor=zzz',
    'page=1&cursor=',
  ])('refuses %s with 400', async (query) => {
    expect((await http.get(`/templates?${query}`)).status).toBe(400);
  });

  it.each(['name', '-lastModifiedAt', 'category', '-status,culture'])(
    'is walked by cursor in the order of %s',
    async (sort) => {
      const all = names(await http.get(`/templates?sort=${sort}`));
      const walked: string[] = [];
      for (let cursor: string | null = ''; cursor !== null;) {
        const { body }: { body: { items: { name: string }[]; nextCursor: string | null; totalCount: null } } =
          await http.get(`/templates?sort=${sort}&pageSize=1&cursor=${cursor}`);
        walked.push(...body.items.map(({ name }) => name));
        expect(body.totalCount).toBeNull();
        cursor = body.nextCursor;
      }
      expect(walked).toEqual(all);
    },
  );

  it('omits the total count on request', async () => {
    const { body } = await http.get('/templates?skipTotalCount=true&pageSize=2');

    expect(body).toMatchObject({ totalCount: null, hasMore: true });
  });
});

describe('revisions of templates', () => {
  it('are listed newest first, page by page, without their text', async () => {
    for (const content of ['one', 'two', 'three 😀']) await http.put('/templates/a', { name: 'a', content });

    const { body } = await http.get('/templates/a/history?pageSize=2');

    expect(body).toMatchObject({ totalCount: 3, page: 1, pageSize: 2 });
    expect(body.revisions.map(({ contentLength }: { contentLength: number }) => contentLength)).toEqual([
      7, 3,
    ]);
    expect(body.revisions[0]).not.toHaveProperty('content');
    expect((await http.get('/templates/a/history?page=2&pageSize=2')).body.revisions).toHaveLength(1);
    expect((await http.get('/templates/a/history?page=0')).status).toBe(400);
    for (const pageSize of ['1000', '9007199254740993']) {
      expect((await http.get(`/templates/a/history?pageSize=${pageSize}`)).body.pageSize).toBe(100);
    }
  });

  it('are read by their id', async () => {
    const { draft } = await saved(http, { name: 'a', content: 'one' });
    await http.put('/templates/a', { name: 'a', content: 'two' });

    const { body } = await http.get(`/templates/a/revisions/${draft.revisionId}`);

    expect(body).toMatchObject({ revisionId: draft.revisionId, content: 'one', status: 3 });
    expect((await http.get('/templates/a/revisions/nonsense')).status).toBe(400);
    expect((await http.get(`/templates/a/revisions/${newId()}`)).status).toBe(404);
    expect((await http.get(`/templates/b/revisions/${draft.revisionId}`)).status).toBe(404);
  });

  it('are kept up to five hundred of a template, and the one that is published', async () => {
    const caller = aCaller();
    const client = service.as(caller);
    const { tenantId } = caller;
    await published(client, { name: 'long', content: 'published' });
    await client.put('/templates/long', { name: 'long', content: 'draft' });
    await service.db.inTenant(
      tenantId,
      (tx) => tx.$executeRaw`
      INSERT INTO template_revision (tenant_id, id, template_id, number, status, mime_type, content, content_length, created_at, created_by)
      SELECT tenant_id, gen_random_uuid(), template_id, number + added, 3, mime_type, content, content_length, created_at, created_by
      FROM template_revision, generate_series(1, 510) AS added WHERE tenant_id = ${tenantId}::uuid AND number = 2`,
    );

    await client.put('/templates/long', { name: 'long', content: 'newest' });

    const { body } = await client.get('/templates/long/history?pageSize=1');
    expect(body).toMatchObject({ totalCount: 501, revisions: [{ status: 0 }] });
    expect((await client.get('/templates/long')).body).toMatchObject({
      draft: { content: 'newest' },
      published: { content: 'published' },
    });
  });

  it('have another tag when they are published again, by whom they say', async () => {
    const caller = aCaller({ userId: 'ada' });
    const { draft } = await saved(service.as(caller), { name: 'a' });
    const path = `/templates/a/revisions/${draft.revisionId}`;
    const publish = (userId: string) => service.as({ ...caller, userId }).post('/templates/a/publish');
    await publish('ada');
    const etag = (await service.as(caller).get(path)).headers.get('etag')!;
    const known = { headers: { 'if-none-match': etag } };
    expect((await service.as(caller).get(path, known)).status).toBe(304);

    await service.as(caller).post('/templates/a/unpublish');
    await publish('grace');

    const read = await service.as(caller).get(path, known);
    expect([read.status, read.body?.publishedBy]).toEqual([200, 'grace']);
  });

  it('are restored as a new draft', async () => {
    const { draft } = await saved(http, { name: 'a', culture: 'fr', content: 'one', mimeType: 'text/plain' });
    await http.put('/templates/a', { name: 'a', culture: 'fr', content: 'two', mimeType: 'text/html' });

    const restore = `/templates/a/revisions/${draft.revisionId}/restore`;
    const read = (await http.get('/templates/a?culture=fr')).headers.get('etag')!;
    await http.put('/templates/a', { name: 'a', culture: 'fr', content: 'two, again' });
    const stale = await http.post(restore, undefined, { headers: { 'if-match': read } });
    expect([stale.status, stale.body.type]).toEqual([409, expect.stringMatching(/stale-version$/)]);
    const ifMatch = (await http.get('/templates/a?culture=fr')).headers.get('etag')!;

    const { status, body, headers } = await http.post(restore, undefined, {
      headers: { 'if-match': ifMatch },
    });

    expect(status).toBe(200);
    expect(headers.get('etag')).toBeTruthy();
    expect(body).toMatchObject({
      name: 'a',
      culture: 'fr',
      draft: { content: 'one', mimeType: 'text/plain', status: 0 },
    });
    expect(body.draft.revisionId).not.toBe(draft.revisionId);
    expect((await http.get('/templates/a/history?culture=fr')).body.totalCount).toBe(4);
  });

  it('are compared as a unified diff', async () => {
    const first = await saved(http, { name: 'a', content: 'one\ntwo\nthree\n' });
    const second = (await http.put('/templates/a', { name: 'a', content: 'one\n2\nthree\n' })).body;
    const [from, to] = [first.draft.revisionId, second.draft.revisionId];

    const { body } = await http.get(`/templates/a/diff?from=${from}&to=${to}`);

    expect(body).toMatchObject({ from, to });
    expect(body.unified).toContain('@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n');
    expect((await http.get(`/templates/a/diff?from=${from}`)).status).toBe(422);
    expect((await http.get(`/templates/a/diff?from=x&to=${to}`)).status).toBe(400);
  });
});

describe('template categories', () => {
  it('are as many as a tenant may have, and no more, however many are created at once', async () => {
    const caller = aCaller();
    const client = service.as(caller);
    const rows = Array.from({ length: 499 }, (_, index) => ({ id: newId(), name: `Category ${index}` }));
    await service.db.inTenant(caller.tenantId, (tx) =>
      tx.templateCategory.createMany({
        data: rows.map((row) => ({ tenantId: caller.tenantId, sortOrder: 0, ...row })),
      }),
    );
    const racing = Array.from({ length: 8 }, (_, index) =>
      client.post('/template-categories', { name: `Last ${index}` }),
    );
    const statuses = (await Promise.all(racing)).map((response) => response.status).sort();
    expect(statuses).toEqual([201, 429, 429, 429, 429, 429, 429, 429]);

    const { status, body } = await client.post('/template-categories', { name: 'one more' });

    expect({ status, body }).toMatchObject({
      status: 429,
      body: { quota: { name: 'template-categories', scope: 'tenant', limit: 500, used: 500 } },
    });
    expect((await client.get('/template-categories')).body).toHaveLength(500);
    expect(await service.metrics.getSingleMetricAsString('plinth_quota_refusals_total')).toMatch(
      /quota="template-categories",scope="tenant".* 8$/m,
    );
  });

  it('are listed in their order with the number of their templates', async () => {
    await http.post('/template-categories', { name: 'B', sortOrder: 2 });
    const made = await http.post('/template-categories', {
      name: 'A',
      description: 'First',
      icon: 'mail',
      sortOrder: 1,
    });
    await saved(http, { name: 't', category: 'A' });

    expect(made.status).toBe(201);
    expect(made.headers.get('location')).toBe(`/api/v1/template-categories/${made.body.id}`);
    const one = await http.get(`/template-categories/${made.body.id}`);
    expect(one.body).toMatchObject({ name: 'A', templateCount: 1 });
    const { body } = await http.get('/template-categories');
    expect(body).toEqual([
      { id: made.body.id, name: 'A', description: 'First', icon: 'mail', sortOrder: 1, templateCount: 1 },
      { id: expect.any(String), name: 'B', sortOrder: 2, templateCount: 0 },
    ]);
  });

  it('have a tag of all that is shown, of which a change compares what it can change', async () => {
    const made = await http.post('/template-categories', { name: 'A' });
    const path = `/template-categories/${made.body.id}`;
    const etag = (await http.get(path)).headers.get('etag')!;
    expect(etag).toBe(made.headers.get('etag'));
    const known = { headers: { 'if-none-match': etag } };
    expect((await http.get(path, known)).status).toBe(304);

    await saved(http, { name: 't', category: 'A' });

    const read = await http.get(path, known);
    expect([read.status, read.body?.templateCount]).toEqual([200, 1]);
    const change = { name: 'A', sortOrder: 1 };
    expect((await http.put(path, change, { headers: { 'if-match': etag } })).status).toBe(200);
    expect((await http.put(path, change, { headers: { 'if-match': etag } })).status).toBe(409);
  });

  it('stay with their templates when renamed', async () => {
    const { body: category } = await http.post('/template-categories', { name: 'A' });
    await saved(http, { name: 't', category: 'A' });
    const before = await http.get('/templates/t');

    const { status, body } = await http.put(`/template-categories/${category.id}`, {
      name: 'Z',
      sortOrder: 5,
    });

    expect(status).toBe(200);
    expect(body).toEqual({ id: category.id, name: 'Z', sortOrder: 5, templateCount: 1 });
    const after = await http.get('/templates/t');
    expect(after.body.category).toBe('Z');
    expect(after.headers.get('etag')).not.toBe(before.headers.get('etag'));
    expect((await http.get('/templates?category=Z')).body.totalCount).toBe(1);
  });

  it('carry their templates along in one writing of each', async () => {
    const caller = aCaller();
    const client = service.as(caller);
    const { body: category } = await client.post('/template-categories', { name: 'A' });
    await saved(client, { name: 't', category: 'A' });
    const { tenantId } = caller;
    const version = (tx: Tx) =>
      tx.template.findFirstOrThrow({ where: { tenantId }, select: { version: true } });

    const carried = await service.db.inTenant(tenantId, async (tx) => {
      await tx.templateCategory.updateMany({ where: { tenantId }, data: { name: 'B' } });
      return version(tx);
    });
    await client.put(`/template-categories/${category.id}`, { name: 'C', sortOrder: 0 });

    expect(carried).toEqual({ version: 2 });
    expect(await service.db.inTenant(tenantId, version)).toEqual({ version: 3 });
  });

  it('cannot be renamed with more templates than one request can carry along', async () => {
    const caller = aCaller();
    const client = service.as(caller);
    const { body: category } = await client.post('/template-categories', { name: 'A' });
    const path = `/template-categories/${category.id}`;
    const rename = (name: string) => client.put(path, { name, sortOrder: 7 });
    const add = (first: number, last: number) =>
      service.db.inTenant(
        caller.tenantId,
        (tx) => tx.$executeRaw`
        INSERT INTO template (tenant_id, id, name, category_name)
        SELECT ${caller.tenantId}::uuid, gen_random_uuid(), 't' || number, 'A'
        FROM generate_series(${first}::int, ${last}::int) AS number`,
      );

    await add(1, 5_001);
    expect(await rename('B')).toMatchObject({
      status: 422,
      body: { errors: { name: [expect.any(String)] } },
    });
    expect((await rename('A')).body).toMatchObject({ sortOrder: 7, templateCount: 5_001 });
  });

  it('are changed and deleted once per operation', async () => {
    const caller = aCaller();
    const client = service.as(caller);
    const { body: category } = await client.post('/template-categories', { name: 'A' });
    const path = `/template-categories/${category.id}`;
    const rename = (name: string, operationId?: string) =>
      service.as({ ...caller, operationId }).put(path, { name, sortOrder: 0 });
    const operationId = newId();
    await rename('B', operationId);
    await rename('C');

    expect(await rename('B', operationId)).toMatchObject({ status: 200, body: { name: 'C' } });

    const deleting = service.as({ ...caller, operationId: newId() });
    const both = await Promise.all([deleting.delete(path), deleting.delete(path)]);
    expect(both.map(({ status }) => status)).toEqual([204, 204]);
    expect((await client.delete(path)).status).toBe(404);
  });

  it('have a unique name, and cannot be deleted while in use', async () => {
    const { body: a } = await http.post('/template-categories', { name: 'A' });
    const { body: b } = await http.post('/template-categories', { name: 'B' });
    await saved(http, { name: 't', category: 'A' });

    expect((await http.post('/template-categories', { name: 'A' })).status).toBe(409);
    expect((await http.put(`/template-categories/${b.id}`, { name: 'A', sortOrder: 0 })).status).toBe(409);
    expect((await http.delete(`/template-categories/${a.id}`)).status).toBe(409);
    expect((await http.delete(`/template-categories/${b.id}`)).status).toBe(204);
    await http.delete('/templates/t');
    expect((await http.delete(`/template-categories/${a.id}`)).status).toBe(204);
  });

  it.each([
    ['', { name: 'A' }, 422, 'sortOrder'],
    ['', { sortOrder: 1 }, 422, 'name'],
  ])('need all that is required', async (_, body, status, field) => {
    const { body: category } = await http.post('/template-categories', { name: 'A' });

    const response = await http.put(`/template-categories/${category.id}`, body);

    expect(response.status).toBe(status);
    expect(response.body.errors[field]).toEqual(['Service:Validation:NotEmptyValidator']);
  });

  it('are 400 for a malformed id, 404 for an unknown one, 409 for a stale version', async () => {
    const { body: category, headers } = await http.post('/template-categories', { name: 'A' });
    const change = { name: 'A', sortOrder: 1 };
    const ifMatch = { headers: { 'if-match': headers.get('etag')! } };

    expect((await http.put('/template-categories/x', change)).status).toBe(400);
    expect((await http.put(`/template-categories/${newId()}`, change)).status).toBe(404);
    expect((await service.as(aCaller()).put(`/template-categories/${category.id}`, change)).status).toBe(404);
    expect((await http.put(`/template-categories/${category.id}`, change, ifMatch)).status).toBe(200);
    expect((await http.put(`/template-categories/${category.id}`, change, ifMatch)).status).toBe(409);
  });
});
