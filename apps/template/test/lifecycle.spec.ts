import { protoPackages } from '@plinth/proto/packages';
import { closeAll, type Close } from '@plinth/runtime/process/lifecycle';
import { serveGrpc, serviceClient } from '@plinth/runtime/rpc/grpc';
import { silentLog } from '@plinth/runtime/process/log';
import { newId } from '@plinth/kernel/uuid';
import type { Caller } from '@plinth/kernel/caller';
import { behindLock } from '@plinth/testing/behind-a-lock';
import { aCaller, TEST_KEYS, type TestClient, type TestResponse } from '@plinth/testing/http';
import { grpcServices } from '../src/grpc/server';
import { published, saved, startTemplates, type Templates } from './start-templates';

describe('the lifecycle of templates', () => {
  let service: Templates;
  let http: TestClient;
  let caller: Caller;
  const closers: Close[] = [];
  let owner: ReturnType<typeof serviceClient<InstanceType<typeof protoPackages.workflow.v1.EntityOwner>>>;

  beforeAll(async () => {
    service = await startTemplates();
    const grpc = await serveGrpc({ HTTP_HOST: '127.0.0.1', GRPC_PORT: 0 }, grpcServices(service));
    closers.push(service.close, grpc.close);
    owner = serviceClient(
      'template',
      protoPackages.workflow.v1.EntityOwner,
      `127.0.0.1:${grpc.port}`,
      TEST_KEYS,
    );
    closers.push(owner.close);
  });
  beforeEach(() => {
    caller = aCaller({ userId: 'ada' });
    http = service.as(caller);
  });
  afterAll(() => closeAll(closers, silentLog()));

  const as = (userId: string, permissions = ['*']) => ({ ...caller, userId, permissions });
  const apply = (by: Caller, from: string, to: string, more: object = {}) =>
    owner.call(
      'Apply',
      {
        entityType: 'Template',
        entityId: 'a',
        from,
        to,
        moveId: newId(),
        comment: '',
        actorId: by.userId,
        actorName: by.userName,
        ...more,
      },
      by,
    );
  const lifecycle = async (client = http) => (await client.get('/templates/a/lifecycle')).body;
  const needApproval = () =>
    service.stubs.settings.set(caller.tenantId, { 'Service.Templates.ApprovalRequired': 'true' });

  it('goes from Draft to Published without approval', async () => {
    const { draft } = await saved(http, { name: 'a', content: 'one' });
    expect(await lifecycle()).toEqual({
      name: 'a',
      currentStatus: 0,
      workflowEnabled: false,
      availableTransitions: [2],
      blockedTransitions: [
        { status: 1, problem: 'template-without-draft', reason: expect.stringContaining('needs no review') },
        { status: 3, problem: 'template-not-published', reason: expect.any(String) },
      ],
    });

    expect((await http.post('/templates/a/publish')).status).toBe(204);

    const { body } = await http.get('/templates/a');
    expect(body.draft).toBeUndefined();
    expect(body.published).toMatchObject({ revisionId: draft.revisionId, status: 2, publishedBy: 'ada' });
    expect(Date.parse(body.published.publishedAt)).not.toBeNaN();
    expect(await lifecycle()).toMatchObject({ currentStatus: 2, availableTransitions: [0, 3] });
  });

  it.each([
    ['no body', undefined],
    ['an empty body', ''],
    ['null', 'null'],
    ['an empty object', {}],
  ])('publishes with %s', async (_, body) => {
    await saved(http, { name: 'a' });

    const response = await http.post('/templates/a/publish', body, {
      headers: { 'content-type': 'application/json' },
    });

    expect(response.status).toBe(204);
    expect(response.text).toBe('');
  });

  it('archives the former published revision when a newer one is published', async () => {
    await published(http, { name: 'a', content: 'one' });
    await http.put('/templates/a', { name: 'a', content: 'two' });
    expect(await lifecycle()).toMatchObject({ currentStatus: 0 });
    await http.post('/templates/a/publish');

    const { revisions } = (await http.get('/templates/a/history')).body;

    expect(revisions.map(({ status }: { status: number }) => status)).toEqual([2, 3]);
    expect((await http.get('/templates/a')).body.published.content).toBe('two');
  });

  it('is 409 for publishing without a draft', async () => {
    await published(http, { name: 'a' });

    const response = await http.post('/templates/a/publish');

    expect(response.status).toBe(409);
    expect(response.body.type).toMatch(/\/problems\/template-without-draft$/);
    expect((await http.post('/templates/none/publish')).status).toBe(404);
  });

  it('does not publish a draft with errors, which stays a draft', async () => {
    await saved(http, { name: 'a', content: 'Hi\n{% if x %}never closed' });

    const response = await http.post('/templates/a/publish');

    expect(response.status).toBe(422);
    expect(response.body.parseErrors).toEqual([
      { message: expect.any(String), line: 2, column: expect.any(Number), snippet: '{% if x %}never closed' },
    ]);
    expect((await http.get('/templates/a')).body.draft.content).toContain('never closed');
  });

  it('unpublishes the published revision, which becomes the draft', async () => {
    const { draft } = await published(http, { name: 'a', content: 'one' });

    expect((await http.post('/templates/a/unpublish')).status).toBe(204);

    const { body } = await http.get('/templates/a');
    expect(body.published).toBeUndefined();
    expect(body.draft).toMatchObject({ revisionId: draft.revisionId, content: 'one', status: 0 });
    expect((await http.post('/templates/a/unpublish')).status).toBe(409);
  });

  it('keeps a newer draft when the published revision is unpublished', async () => {
    await published(http, { name: 'a', content: 'one' });
    await http.put('/templates/a', { name: 'a', content: 'two' });

    expect((await http.post('/templates/a/unpublish')).status).toBe(204);

    const { body } = await http.get('/templates/a');
    expect(body).toMatchObject({ draft: { content: 'two' } });
    expect(body.published).toBeUndefined();
    const { revisions } = (await http.get('/templates/a/history')).body;
    expect(revisions.map(({ status }: { status: number }) => status)).toEqual([0, 3]);
  });

  it('publishes a draft once for many concurrent requests', async () => {
    await saved(http, { name: 'a' });

    const responses = await Promise.all(Array.from({ length: 10 }, () => http.post('/templates/a/publish')));

    const statuses = responses.map(({ status }) => status).sort();
    expect(statuses).toEqual([204, ...Array(9).fill(409)]);
  });

  it('finds that a repeated operation published, also where a draft with errors was saved since', async () => {
    const retried = service.as({ ...caller, operationId: newId() });
    await saved(http, { name: 'a' });
    await retried.post('/templates/a/publish');
    await http.put('/templates/a', { name: 'a', content: '{% if %}' });

    expect((await retried.post('/templates/a/publish')).status).toBe(204);
    expect((await http.post('/templates/a/publish')).status).toBe(422);
  });

  it('finds that a repeated move was made, whatever was done to the template since', async () => {
    const repeated = { moveId: newId() };
    const moving = () => apply(as('ada'), 'Draft', 'Published', repeated);
    const moved = { outcome: 'MOVED', state: 'Published', movedBy: 'ada' };
    await saved(http, { name: 'a' });
    expect(await moving()).toMatchObject(moved);

    await http.put('/templates/a', { name: 'a', content: '{% if %}' });
    expect(await moving()).toMatchObject(moved);
    expect(await apply(as('ada'), 'Draft', 'Published')).toMatchObject({ outcome: 'STATE_CHANGED' });

    await http.delete('/templates/a');
    await http.post('/templates/a/unpublish');
    await http.delete('/templates/a');
    expect((await http.get('/templates/a')).status).toBe(404);
    expect(await moving()).toMatchObject(moved);
  });

  describe('beside other changes', () => {
    const behind = (...requests: (() => Promise<TestResponse>)[]) => {
      const text = 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))';
      const values = [`${caller.tenantId}/a~`];
      return behindLock(service.database!.adminUrl, [{ text, values }], ...requests);
    };
    const unparsable = { name: 'a', content: '{% if %}' };

    it('does not publish a draft that was saved after it was checked that there is none', async () => {
      await published(http, { name: 'a' });

      const [saving, publishing] = await behind(
        () => http.put('/templates/a', unparsable),
        () => http.post('/templates/a/publish'),
      );

      expect([saving!.status, publishing!.status]).toEqual([200, 409]);
      expect((await http.get('/templates/a')).body.published.content).toBe('<p>Hello</p>');
      expect((await http.post('/templates/a/publish')).status).toBe(422);
    });

    it('restores no revision of a template that is deleted meanwhile', async () => {
      const { draft } = await saved(http, { name: 'a' });

      const [deleting, restoring] = await behind(
        () => http.delete('/templates/a'),
        () => http.post(`/templates/a/revisions/${draft.revisionId}/restore`),
      );

      expect([deleting!.status, restoring!.status]).toEqual([204, 404]);
      expect((await http.get('/templates/a')).status).toBe(404);
    });

    it('keeps what is published where a publication finds the draft that an import wrote, however old it is', async () => {
      const { adminUrl } = service.database!;
      const values = [caller.tenantId];
      await published(http, { name: 'a' });
      await http.put('/templates/a', { name: 'a', content: 'newest' });
      const renumbered = 'UPDATE template_revision SET number = 502 WHERE tenant_id = $1 AND number = 2';
      await behindLock(adminUrl, [{ text: renumbered, values }]);
      const importing = [
        'UPDATE template_revision SET status = 3 WHERE tenant_id = $1 AND number = 502',
        `WITH imported AS (
           UPDATE template SET draft_id = gen_random_uuid(), version = version + 1 WHERE tenant_id = $1 RETURNING *)
         INSERT INTO template_revision (tenant_id, id, template_id, number, status, mime_type, content,
           content_length, created_at, created_by)
         SELECT tenant_id, draft_id, id, 503, 0, 'text/html', 'imported', 8, now(), 'ada' FROM imported`,
      ];

      const [publishing] = await behindLock(
        adminUrl,
        importing.map((text) => ({ text, values })),
        () => http.post('/templates/a/publish'),
      );

      expect(publishing!.status).toBe(409);
      expect((await http.get('/templates/a')).body.published).toMatchObject({ content: '<p>Hello</p>' });
    });

    // Both change templates and wait for nobody who saves one.
    it.each([
      [
        'the name that its category gets',
        [`UPDATE template_category SET name = 'Mails' WHERE tenant_id = $1`],
        { category: 'Mails', revisions: [0, 3] },
      ],
      [
        'the draft that an import writes',
        [
          'UPDATE template_revision SET status = 3 WHERE tenant_id = $1',
          `WITH imported AS (UPDATE template SET draft_id = gen_random_uuid() WHERE tenant_id = $1 RETURNING *)
           INSERT INTO template_revision (tenant_id, id, template_id, number, status, mime_type, content,
             content_length, created_at, created_by)
           SELECT tenant_id, draft_id, id, 2, 0, 'text/html', 'imported', 8, now(), 'ada' FROM imported`,
        ],
        { category: 'Letters', revisions: [0, 3, 3] },
      ],
    ])('keeps %s', async (_, changes, { category, revisions }) => {
      await http.post('/template-categories', { name: 'Letters' });
      await saved(http, { name: 'a', category: 'Letters' });
      const versioned = 'UPDATE template SET version = version + 1 WHERE tenant_id = $1';
      const changing = [...changes, versioned].map((text) => ({ text, values: [caller.tenantId] }));

      const [saving] = await behindLock(service.database!.adminUrl, changing, () =>
        http.put('/templates/a', { name: 'a', content: 'saved' }),
      );

      expect(saving).toMatchObject({ status: 200, body: { category, draft: { content: 'saved' } } });
      const { body } = await http.get('/templates/a/history');
      expect(body.revisions.map(({ status }: { status: number }) => status)).toEqual(revisions);
    });
  });

  it('lists only transitions that this caller may make', async () => {
    await saved(http, { name: 'a' });
    const reader = service.as(as('bob', ['Templating.Templates.Read']));

    expect(await lifecycle(reader)).toMatchObject({
      availableTransitions: [],
      blockedTransitions: expect.arrayContaining([
        { status: 2, problem: 'forbidden', reason: expect.stringContaining('Templating.Templates.Publish') },
      ]),
    });
  });

  describe('with approval required', () => {
    it('is 409 for publishing before a review', async () => {
      needApproval();
      await saved(http, { name: 'a' });
      expect(await lifecycle()).toMatchObject({ workflowEnabled: true, availableTransitions: [1] });

      const response = await http.post('/templates/a/publish');

      expect(response.status).toBe(409);
      expect(response.body.type).toMatch(/template-needs-review$/);
    });

    it('is published by another person than the one who submitted it', async () => {
      needApproval();
      await saved(http, { name: 'a' });
      expect(await apply(as('ada'), 'Draft', 'PendingReview')).toMatchObject({
        outcome: 'MOVED',
        state: 'PendingReview',
      });
      expect((await http.get('/templates/a')).body.draft.status).toBe(1);

      expect((await http.post('/templates/a/publish')).status).toBe(403);
      expect(await lifecycle()).toMatchObject({ currentStatus: 1, availableTransitions: [0] });
      expect(await lifecycle(service.as(as('bob')))).toMatchObject({ availableTransitions: [0, 2] });
      expect((await service.as(as('bob')).post('/templates/a/publish')).status).toBe(204);
    });

    it('is published as it was read, and not what was submitted in its place since', async () => {
      needApproval();
      const reviewer = service.as(as('bob'));
      await saved(http, { name: 'a', content: 'good' });
      await apply(as('ada'), 'Draft', 'PendingReview');
      const read = (await reviewer.get('/templates/a')).headers.get('etag')!;
      await http.put('/templates/a', { name: 'a', content: 'bad' });
      await apply(as('ada'), 'Draft', 'PendingReview');
      const publish = (tag: string) =>
        reviewer.post('/templates/a/publish', undefined, { headers: { 'if-match': tag } });

      expect(await publish(read)).toMatchObject({ status: 409, body: { title: 'Changed meanwhile' } });

      expect((await publish((await reviewer.get('/templates/a')).headers.get('etag')!)).status).toBe(204);
    });

    it('may require approval for a single template', async () => {
      await saved(http, { name: 'a', requiresApproval: true });
      expect(await lifecycle()).toMatchObject({ workflowEnabled: true });
      expect((await http.post('/templates/a/publish')).status).toBe(409);

      needApproval();
      await http.put('/templates/a', { name: 'a', content: 'x', requiresApproval: false });
      expect(await lifecycle()).toMatchObject({ workflowEnabled: false });
      expect((await http.post('/templates/a/publish')).status).toBe(204);
    });

    it('lets only those who may change the setting take the approval of a template away', async () => {
      const author = as('eve', ['Templating.Templates.Read', 'Templating.Templates.Manage']);
      const put = (by: Caller, requiresApproval: boolean | null) =>
        service.as(by).put('/templates/a', { name: 'a', content: 'x', requiresApproval });
      needApproval();
      const made = { name: 'b', content: 'x', requiresApproval: false };
      expect((await service.as(author).post('/templates', made)).status).toBe(403);
      await saved(http, { name: 'a' });
      expect((await put(author, false)).status).toBe(403);
      expect((await put(author, true)).status).toBe(200);

      service.stubs.settings.set(caller.tenantId, { 'Service.Templates.ApprovalRequired': 'false' });
      for (const choice of [false, null]) expect((await put(author, choice)).status).toBe(403);
      expect(await lifecycle()).toMatchObject({ workflowEnabled: true });

      const administrator = { ...author, permissions: [...author.permissions, 'Settings.Tenant.Manage'] };
      expect((await put(administrator, null)).status).toBe(200);
      expect(await lifecycle()).toMatchObject({ workflowEnabled: false });
    });

    it('stays needed by a template of its own, whatever the setting says while an author saves it', async () => {
      const author = as('eve', ['Templating.Templates.Read', 'Templating.Templates.Manage']);
      await saved(http, { name: 'a', requiresApproval: true });
      needApproval();
      const put = { name: 'a', content: 'x', requiresApproval: null };
      expect((await service.as(author).put('/templates/a', put)).status).toBe(403);
    });

    it('is needed by all templates from when the setting says so, but those that an administrator exempted', async () => {
      const author = as('eve', [
        'Templating.Templates.Read',
        'Templating.Templates.Manage',
        'Templating.Templates.Publish',
      ]);
      const administrator = { ...author, permissions: [...author.permissions, 'Settings.Tenant.Manage'] };
      const made = { content: 'x', requiresApproval: false };
      for (const [name, by] of [
        ['a', author],
        ['b', administrator],
      ] as const)
        expect((await service.as(by).post('/templates', { name, ...made })).status).toBe(201);
      await service.as(author).put('/templates/b', { name: 'b', ...made });
      needApproval();
      const publish = async (name: string) =>
        (await service.as(author).post(`/templates/${name}/publish`)).status;
      expect([await publish('a'), await publish('b')]).toEqual([409, 204]);
    });

    it('is needed by a template that was deleted and made again', async () => {
      await saved(http, { name: 'a', requiresApproval: true });
      await http.delete('/templates/a');
      await saved(http, { name: 'a' });

      expect((await http.post('/templates/a/publish')).status).toBe(409);
    });

    it('returns to Draft when the text is changed during the review', async () => {
      needApproval();
      await saved(http, { name: 'a' });
      await apply(as('ada'), 'Draft', 'PendingReview');

      const { body } = await http.put('/templates/a', { name: 'a', content: 'changed' });

      expect(body.draft.status).toBe(0);
      expect((await service.as(as('bob')).post('/templates/a/publish')).status).toBe(409);
    });
  });

  describe('over gRPC, for the workflow service', () => {
    const describeEntity = (by: Caller = caller, entityId = 'a') =>
      owner.call('Describe', { entityType: 'Template', entityId }, by);

    it('describes a template that does not exist as a draft', async () => {
      expect(await describeEntity()).toMatchObject({ exists: false, state: 'Draft' });
    });

    it.each(['a~FR-ca', 'a~fr-CA~', 'a~fr-CA~x', 'a~~fr-CA', '~fr-CA'])(
      'knows a template by one id, and none by %s',
      async (entityId) => {
        await saved(http, { name: 'a', culture: 'fr-CA' });
        await saved(http, { name: 'a' });

        expect(await describeEntity(caller, entityId)).toMatchObject({ exists: false });
        expect(await apply(caller, 'Draft', 'Published', { entityId })).toMatchObject({
          outcome: 'STATE_CHANGED',
        });
        expect(await lifecycle()).toMatchObject({ currentStatus: 0 });
      },
    );

    it('describes the objections to each transition, and which depend on the caller', async () => {
      await saved(http, { name: 'a', culture: 'fr-CA' });

      const { exists, state, objections } = await describeEntity(caller, 'a~fr-CA');

      expect({ exists, state }).toEqual({ exists: true, state: 'Draft' });
      expect(objections.map(({ targetState }) => targetState)).toEqual(['PendingReview', 'Archived']);
      const reader = await describeEntity(as('bob', ['Templating.Templates.Read']), 'a~fr-CA');
      expect(reader.objections).toContainEqual(
        expect.objectContaining({ targetState: 'Published', concernsCaller: true }),
      );
    });

    it('names another version after each change of the text, and not after a move', async () => {
      const versionOf = async () => (await describeEntity()).version;
      await saved(http, { name: 'a', requiresApproval: true });
      const first = await versionOf();
      await apply(as('ada'), 'Draft', 'PendingReview');
      expect(await versionOf()).toBe(first);

      await http.put('/templates/a', { name: 'a', content: 'changed' });

      expect(await versionOf()).not.toBe(first);
      expect(first).toMatch(/./);
    });

    it('moves no other version than the one that was approved, also where it is saved at the same moment', async () => {
      await saved(http, { name: 'a', requiresApproval: true });
      for (let round = 0; round < 20; round++) {
        const { version } = await describeEntity();

        const [{ outcome }] = await Promise.all([
          apply(as('ada'), 'Draft', 'PendingReview', { version }),
          http.put('/templates/a', { name: 'a', content: `of round ${round}` }),
        ]);

        expect(['MOVED', 'VERSION_CHANGED']).toContain(outcome);
        // What was saved after the move is a draft again, and what was saved before it was not moved.
        expect(await lifecycle()).toMatchObject({ currentStatus: 0 });
      }
      const { version } = await describeEntity();
      await http.put('/templates/a', { name: 'a', content: 'the last' });
      expect(await apply(as('ada'), 'Draft', 'PendingReview', { version })).toMatchObject({
        outcome: 'VERSION_CHANGED',
        state: 'Draft',
      });
      expect(await apply(as('ada'), 'Draft', 'PendingReview')).toMatchObject({ outcome: 'MOVED' });
    });

    it('makes no move that is asked for too late, and tells of one that it made in time', async () => {
      await saved(http, { name: 'a', requiresApproval: true });
      const inMilliseconds = (more: number) => new Date(Date.now() + more).toISOString();
      const [past, future] = [inMilliseconds(-1_000), inMilliseconds(60_000)];
      const late = { outcome: 'STATE_CHANGED', state: 'Draft' };
      expect(await apply(as('ada'), 'Draft', 'PendingReview', { notAfter: past })).toMatchObject(late);

      const moveId = newId();
      const moved = { outcome: 'MOVED', state: 'PendingReview' };
      for (const notAfter of [future, past])
        expect(await apply(as('ada'), 'Draft', 'PendingReview', { notAfter, moveId })).toMatchObject(moved);
    });

    it('archives the published revision', async () => {
      await published(http, { name: 'a' });

      expect(await apply(caller, 'Published', 'Archived')).toMatchObject({
        outcome: 'MOVED',
        state: 'Archived',
      });

      const { body } = await http.get('/templates/a');
      expect(body).toEqual({ name: 'a' });
      expect(await lifecycle()).toMatchObject({ currentStatus: 3, availableTransitions: [] });
      expect((await http.get('/templates?status=Archived')).body.items).toMatchObject([
        { name: 'a', status: 3, hasPublishedVersion: false },
      ]);
      expect((await http.put('/templates/a', { name: 'a', content: 'new' })).status).toBe(200);
    });

    it('makes a transition once when it is repeated', async () => {
      await published(http, { name: 'a' });
      const moveId = newId();

      const first = await apply(caller, 'Published', 'Archived', { moveId });
      const again = await apply(caller, 'Published', 'Archived', { moveId });

      expect(again).toEqual(first);
      expect(await apply(caller, 'Published', 'Archived')).toMatchObject({
        outcome: 'STATE_CHANGED',
        state: 'Archived',
      });
    });

    it('publishes that it is gone, and a draft again where it was submitted, as it is when it is made again', async () => {
      await saved(http, { name: 'a', requiresApproval: true });
      expect(await apply(as('ada'), 'Draft', 'PendingReview')).toMatchObject({ outcome: 'MOVED' });
      expect((await http.delete('/templates/a')).status).toBe(204);
      await saved(http, { name: 'a' });
      await http.delete('/templates/a');

      const events = await service.db.inTenant(caller.tenantId, (tx) =>
        tx.$queryRawUnsafe<{ payload: Record<string, unknown> }[]>(
          `SELECT payload FROM outbox WHERE name = 'template.entity-moved' ORDER BY sequence`,
        ),
      );

      expect(events.map(({ payload }) => payload)).toMatchObject([
        { previousState: 'Draft', newState: 'PendingReview' },
        { previousState: 'PendingReview', newState: 'Draft', movedBy: 'ada' },
      ]);
      const gone = await service.db.inTenant(caller.tenantId, (tx) =>
        tx.$queryRawUnsafe<{ payload: unknown }[]>(
          `SELECT payload FROM outbox WHERE name = 'template.entity-gone'`,
        ),
      );
      const payload = { entityType: 'Template', entityIds: ['a'] };
      expect(gone).toEqual([{ payload }, { payload }]);
    });

    it('publishes an event for every change of status, over HTTP and gRPC', async () => {
      await published(http, { name: 'a' });
      await http.post('/templates/a/unpublish');

      const events = await service.db.inTenant(caller.tenantId, (tx) =>
        tx.$queryRawUnsafe<{ payload: Record<string, unknown> }[]>(
          `SELECT payload FROM outbox WHERE name = 'template.entity-moved' ORDER BY sequence`,
        ),
      );

      expect(events.map(({ payload }) => payload)).toMatchObject([
        {
          entityType: 'Template',
          entityId: 'a',
          previousState: 'Draft',
          newState: 'Published',
          movedBy: 'ada',
        },
        { previousState: 'Published', newState: 'Draft' },
      ]);
    });
  });
});
