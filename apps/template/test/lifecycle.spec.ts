import { protoPackages } from '@plinth/proto/packages';
import { closeAll, type Close } from '@plinth/runtime/lifecycle';
import { serveGrpc, sibling } from '@plinth/runtime/grpc';
import { silentLog } from '@plinth/runtime/log';
import { newId } from '@plinth/kernel/uuid';
import type { Caller } from '@plinth/kernel/caller';
import { aCaller, TEST_KEYS, type TestClient } from '@plinth/testing/http';
import { grpcServices } from '../src/grpc/server';
import { published, saved, startTemplates, type Templates } from './start-templates';

describe('the lifecycle of templates', () => {
  let service: Templates;
  let http: TestClient;
  let caller: Caller;
  const closers: Close[] = [];
  let owner: ReturnType<typeof sibling<InstanceType<typeof protoPackages.workflow.v1.EntityOwner>>>;

  beforeAll(async () => {
    service = await startTemplates();
    const grpc = await serveGrpc({ HTTP_HOST: '127.0.0.1', GRPC_PORT: 0 }, grpcServices(service));
    closers.push(service.close, grpc.close);
    owner = sibling('template', protoPackages.workflow.v1.EntityOwner, `127.0.0.1:${grpc.port}`, TEST_KEYS);
    closers.push(owner.close);
  });
  beforeEach(() => {
    caller = aCaller({ userId: 'ada' });
    http = service.as(caller);
  });
  afterAll(() => closeAll(closers, silentLog()));

  const as = (userId: string, permissions = ['*']) => ({ ...caller, userId, permissions });
  const apply = (by: Caller, from: string, to: string, more: object = {}) =>
    owner.ask(
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
    service.siblings.settings.set(caller.tenantId, { 'Service.Templates.ApprovalRequired': 'true' });

  it('goes from Draft to Published without approval', async () => {
    const { draft } = await saved(http, { name: 'a', content: 'one' });
    expect(await lifecycle()).toEqual({
      name: 'a',
      currentStatus: 0,
      workflowEnabled: false,
      availableTransitions: [2],
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

    const answer = await http.post('/templates/a/publish', body, {
      headers: { 'content-type': 'application/json' },
    });

    expect(answer.status).toBe(204);
    expect(answer.text).toBe('');
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

  it('has nothing to publish without a draft', async () => {
    await published(http, { name: 'a' });

    const answer = await http.post('/templates/a/publish');

    expect(answer.status).toBe(409);
    expect(answer.body.type).toMatch(/\/problems\/template-without-draft$/);
    expect((await http.post('/templates/none/publish')).status).toBe(404);
  });

  it('does not publish what does not parse, but keeps it as a draft', async () => {
    await saved(http, { name: 'a', content: 'Hi\n{% if x %}never closed' });

    const answer = await http.post('/templates/a/publish');

    expect(answer.status).toBe(422);
    expect(answer.body.parseErrors).toEqual([
      { message: expect.any(String), line: 2, column: expect.any(Number), snippet: '{% if x %}never closed' },
    ]);
    expect((await http.get('/templates/a')).body.draft.content).toContain('never closed');
  });

  it('takes the published revision back as the draft', async () => {
    const { draft } = await published(http, { name: 'a', content: 'one' });

    expect((await http.post('/templates/a/unpublish')).status).toBe(204);

    const { body } = await http.get('/templates/a');
    expect(body.published).toBeUndefined();
    expect(body.draft).toMatchObject({ revisionId: draft.revisionId, content: 'one', status: 0 });
    expect((await http.post('/templates/a/unpublish')).status).toBe(409);
  });

  it('keeps a newer draft when the published revision is taken back', async () => {
    await published(http, { name: 'a', content: 'one' });
    await http.put('/templates/a', { name: 'a', content: 'two' });

    expect((await http.post('/templates/a/unpublish')).status).toBe(204);

    const { body } = await http.get('/templates/a');
    expect(body).toMatchObject({ draft: { content: 'two' } });
    expect(body.published).toBeUndefined();
    const { revisions } = (await http.get('/templates/a/history')).body;
    expect(revisions.map(({ status }: { status: number }) => status)).toEqual([0, 3]);
  });

  it('lets exactly one of many publishers win', async () => {
    await saved(http, { name: 'a' });

    const answers = await Promise.all(Array.from({ length: 10 }, () => http.post('/templates/a/publish')));

    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([204, ...Array(9).fill(409)]);
  });

  it('tells only what this caller could do now', async () => {
    await saved(http, { name: 'a' });
    const reader = service.as(as('bob', ['Templating.Templates.Read']));

    expect(await lifecycle(reader)).toMatchObject({ availableTransitions: [] });
  });

  describe('with approval', () => {
    it('needs a review before publication', async () => {
      needApproval();
      await saved(http, { name: 'a' });
      expect(await lifecycle()).toMatchObject({ workflowEnabled: true, availableTransitions: [1] });

      const answer = await http.post('/templates/a/publish');

      expect(answer.status).toBe(409);
      expect(answer.body.type).toMatch(/template-needs-review$/);
    });

    it('is published by somebody other than who submitted it', async () => {
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

    it('may be asked for by one template alone', async () => {
      await saved(http, { name: 'a', requiresApproval: true });
      expect(await lifecycle()).toMatchObject({ workflowEnabled: true });
      expect((await http.post('/templates/a/publish')).status).toBe(409);

      needApproval();
      await http.put('/templates/a', { name: 'a', content: 'x', requiresApproval: false });
      expect(await lifecycle()).toMatchObject({ workflowEnabled: false });
      expect((await http.post('/templates/a/publish')).status).toBe(204);
    });

    it('goes back to Draft when the text is changed during the review', async () => {
      needApproval();
      await saved(http, { name: 'a' });
      await apply(as('ada'), 'Draft', 'PendingReview');

      const { body } = await http.put('/templates/a', { name: 'a', content: 'changed' });

      expect(body.draft.status).toBe(0);
      expect((await service.as(as('bob')).post('/templates/a/publish')).status).toBe(409);
    });
  });

  describe('for the workflow service', () => {
    const describeEntity = (by: Caller = caller, entityId = 'a') =>
      owner.ask('Describe', { entityType: 'Template', entityId }, by);

    it('says that a template that is nowhere would begin as a draft', async () => {
      expect(await describeEntity()).toMatchObject({ exists: false, state: 'Draft' });
    });

    it('says what it has against each move, and whom it concerns', async () => {
      await saved(http, { name: 'a', culture: 'fr-CA' });

      const { exists, state, objections } = await describeEntity(caller, 'a~fr-CA');

      expect({ exists, state }).toEqual({ exists: true, state: 'Draft' });
      expect(objections.map(({ targetState }) => targetState)).toEqual(['PendingReview', 'Archived']);
      const reader = await describeEntity(as('bob', ['Templating.Templates.Read']), 'a~fr-CA');
      expect(reader.objections).toContainEqual(
        expect.objectContaining({ targetState: 'Published', concernsCaller: true }),
      );
    });

    it('archives what is published', async () => {
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

    it('moves once however often it is asked', async () => {
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

    it('tells of every change of state, whoever asked for it', async () => {
      await published(http, { name: 'a' });
      await http.post('/templates/a/unpublish');

      const told = await service.db.inTenant(caller.tenantId, (tx) =>
        tx.$queryRawUnsafe<{ payload: Record<string, unknown> }[]>(
          `SELECT payload FROM outbox WHERE name = 'template.entity-moved' ORDER BY sequence`,
        ),
      );

      expect(told.map(({ payload }) => payload)).toMatchObject([
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
