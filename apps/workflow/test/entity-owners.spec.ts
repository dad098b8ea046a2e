import { approvalEnded, transitionExecuted } from '@plinth/contracts/workflow/events';
import { newId } from '@plinth/kernel/uuid';
import { silentLog } from '@plinth/runtime/process/log';
import { connectMessaging, type Messaging } from '@plinth/runtime/messaging/nats';
import { eventually } from '@plinth/testing/eventually';
import { aCaller } from '@plinth/testing/http';
import { templateDefinition } from '../src/domain/definitions/template';
import { Client } from 'pg';
import { recordOwnerMove } from '../src/store/owner-move-store';
import { eventOf, movedOf, startEntityOwnerStub, publishMove } from './entity-owner-stub';
import { publishedEvents } from './read-published-events';
import { startWorkflow, type Workflow } from './start-workflow';

describe('entities that another service owns', () => {
  let owner: Awaited<ReturnType<typeof startEntityOwnerStub>>;
  let service: Workflow;
  let messaging: Messaging;
  const closers: (() => unknown)[] = [];
  beforeAll(async () => {
    owner = await startEntityOwnerStub();
    service = await startWorkflow({ environment: { GRPC_SERVICES: `template=${owner.address}` } });
    messaging = await connectMessaging(service.config, silentLog());
    closers.push(await service.consume(), messaging.close, service.close, owner.close);
  });
  afterAll(async () => {
    for (const close of closers) await close();
  });
  afterEach(() => {
    owner.objections.splice(0);
    owner.requestedBy.splice(0);
    owner.held.clear();
  });

  /** A template in a tenant of its own, and requests about it. */
  const aTemplate = (state?: string) => {
    const tenantId = newId();
    if (state) owner.setState(tenantId, 'welcome', state);
    const as = (userId: string, operationId?: string) =>
      service.as(aCaller({ tenantId, userId, userName: userId, operationId }));
    return {
      tenantId,
      as,
      /** Has a definition of the tenant's own require an approval for one transition. */
      requireApproval: async (name: string) => {
        const { transitions, ...rest } = templateDefinition;
        const { status } = await as('admin').put('/workflow/definitions/Template', {
          ...rest,
          transitions: transitions.map((one) => ({ ...one, requiresApproval: one.name === name })),
        });
        expect(status).toBe(200);
      },
      /** Has the owner move it by itself, and waits until that is recorded. */
      moveByOwner: async (from: string, to: string) => {
        const payload = movedOf({ entityType: 'Template', entityId: 'welcome', from, to, actorId: 'owner' });
        owner.setState(tenantId, 'welcome', to);
        await publishMove(messaging, tenantId, payload);
        await eventually(async () => {
          const { body } = await as('reader').get('/workflow/Template/welcome/history');
          return body.items[0]?.transitionedAt >= payload.movedAt && body.items[0].newState === to;
        });
      },
      move: async (userId: string, targetState: string, operationId?: string) => {
        const body = { targetState, comment: `by ${userId}` };
        const response = await as(userId, operationId).post('/workflow/Template/welcome/transition', body);
        return response.status === 200
          ? `${response.body.outcome} ${response.body.resultingState}`
          : response.status;
      },
      status: async () => (await as('reader').get('/workflow/Template/welcome/transitions')).body,
      history: async () =>
        (await as('reader').get('/workflow/Template/welcome/history')).body.items.map(
          (item: { previousState: string; newState: string; transitionedBy: string }) =>
            `${item.previousState} ${item.newState} ${item.transitionedBy}`,
        ) as string[],
    };
  };

  it('are moved by their owner and recorded in the history', async () => {
    const { move, history, status } = aTemplate('Draft');
    expect(await move('ann', 'PendingReview')).toBe('Completed PendingReview');
    expect(await move('bob', 'Published')).toBe('Completed Published');

    expect((await status()).currentState).toBe('Published');
    expect(await history()).toEqual(['PendingReview Published bob', 'Draft PendingReview ann']);
  });

  it('are in their initial state and cannot be moved before they exist', async () => {
    const { move, status, history } = aTemplate();
    expect(await status()).toMatchObject({
      currentState: 'Draft',
      availableTransitions: [{ allowed: false, reasons: ['There is no such entity yet.'] }],
    });
    expect(await move('ann', 'PendingReview')).toBe('InvalidTransition Draft');
    expect(await history()).toEqual([]);
  });

  it('are not moved against an objection of their owner', async () => {
    const { move, status } = aTemplate('Draft');
    owner.objections.push({
      targetState: 'PendingReview',
      reason: 'Approval is off.',
      concernsCaller: false,
    });
    expect((await status()).availableTransitions[0]).toMatchObject({
      allowed: false,
      reasons: ['Approval is off.'],
    });
    expect(await move('ann', 'PendingReview')).toBe('InvalidTransition Draft');

    owner.objections[0]!.concernsCaller = true;
    expect(await move('ann', 'PendingReview')).toBe('Denied Draft');
  });

  it('are moved once by many simultaneous requests', async () => {
    const { move, history } = aTemplate('Draft');
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, (_, index) => move(`user-${index}`, 'PendingReview')),
    );
    expect(outcomes.filter((outcome) => outcome === 'Completed PendingReview')).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === 'InvalidTransition PendingReview')).toHaveLength(7);
    expect(await history()).toHaveLength(1);
  });

  it('get one history row for a move that their owner made by itself, even if its event comes twice', async () => {
    const { tenantId, history } = aTemplate('Published');
    const moved = movedOf({
      entityType: 'Template',
      entityId: 'welcome',
      from: 'Draft',
      to: 'Published',
      actorId: 'cem',
    });
    await publishMove(messaging, tenantId, moved);
    await publishMove(messaging, tenantId, moved);
    await publishMove(messaging, tenantId, {
      ...moved,
      moveId: newId(),
      previousState: 'Published',
      newState: 'Archived',
    });

    await eventually(async () => (await history()).length === 2);
    expect(await history()).toEqual(['Published Archived cem', 'Draft Published cem']);
  });

  it('have their history in the order of their moves, also where a requested one follows before the event of another', async () => {
    const { tenantId, move, history } = aTemplate('Published');
    const publication = { entityType: 'Template', entityId: 'welcome', from: 'Draft', to: 'Published' };

    const requested = move('bob', 'Archived');
    await publishMove(messaging, tenantId, movedOf({ ...publication, actorId: 'ann' }));

    expect(await requested).toBe('Completed Archived');
    expect(await history()).toEqual(['Published Archived bob', 'Draft Published ann']);
  });

  it('have their history in the order of their moves, also where the event of a later one comes first', async () => {
    const { tenantId, history } = aTemplate('Draft');
    const moved = (from: string, to: string) =>
      movedOf({ entityType: 'Template', entityId: 'welcome', from, to, actorId: 'owner' });
    const earlier = moved('Draft', 'Published');
    await publishMove(messaging, tenantId, moved('Published', 'Draft'));
    await publishMove(messaging, tenantId, earlier);

    await eventually(async () => (await history()).length === 2);
    expect(await history()).toEqual(['Published Draft owner', 'Draft Published owner']);
  });

  it('have it so also where both events come late, as behind a backlog', async () => {
    const { tenantId, history } = aTemplate('Draft');
    const movedAt = new Date(Date.now() - 3_600_000).toISOString();
    const moved = (from: string, to: string) => ({
      ...movedOf({ entityType: 'Template', entityId: 'welcome', from, to, actorId: 'owner' }),
      movedAt,
    });
    await publishMove(messaging, tenantId, moved('Published', 'Draft'));
    await publishMove(messaging, tenantId, moved('Draft', 'Published'));

    await eventually(async () => (await history()).length === 2);
    expect(await history()).toEqual(['Published Draft owner', 'Draft Published owner']);
  });

  it('wait for an earlier move for three deliveries, whichever replicas they come to', async () => {
    const { tenantId, history } = aTemplate('Draft');
    const payload = movedOf({
      entityType: 'Template',
      entityId: 'welcome',
      from: 'Published',
      to: 'Draft',
      actorId: 'owner',
    });
    const record = (deliveryCount: number) =>
      service.db.inTenant(tenantId, (tx) =>
        recordOwnerMove(tx, { ...eventOf(tenantId, payload), deliveryCount }),
      );

    await expect(record(3)).rejects.toThrow('not recorded yet');
    await record(4);
    expect(await history()).toEqual(['Published Draft owner']);
  });

  it('stay where their last move left them where the event of an earlier one comes after it', async () => {
    const { tenantId, move, history } = aTemplate('Draft');
    const record = (from: string, to: string, movedAt: string) => {
      const moved = movedOf({ entityType: 'Template', entityId: 'welcome', from, to, actorId: 'owner' });
      const event = { ...eventOf(tenantId, { ...moved, movedAt }), deliveryCount: 4 };
      return service.db.inTenant(tenantId, (tx) => recordOwnerMove(tx, event));
    };
    const recorded = () =>
      service.db.inTenant(tenantId, (tx) =>
        tx.entity.findMany({ where: { tenantId }, select: { state: true, approvalId: true } }),
      );
    await record('Published', 'Draft', '2026-11-26T10:00:02Z');
    await record('Draft', 'Published', '2026-11-26T10:00:00Z');
    await record('Published', 'Archived', '2026-11-26T10:00:01Z');

    expect(await recorded()).toEqual([{ state: 'Draft', approvalId: null }]);
    expect(await history()).toEqual([
      'Published Archived owner',
      'Draft Published owner',
      'Published Draft owner',
    ]);
    expect(await move('ann', 'PendingReview')).toBe('Completed PendingReview');
  });

  it('follow a move that leads on from a requested one, though the clocks of their owner say that it was before', async () => {
    const { tenantId, move, history } = aTemplate('Draft');
    expect(await move('ann', 'PendingReview')).toBe('Completed PendingReview');
    const moved = movedOf({
      entityType: 'Template',
      entityId: 'welcome',
      from: 'PendingReview',
      to: 'Archived',
      actorId: 'owner',
    });
    const event = { ...eventOf(tenantId, { ...moved, movedAt: '2026-01-01T00:00:00Z' }), deliveryCount: 1 };

    await service.db.inTenant(tenantId, (tx) => recordOwnerMove(tx, event));

    const states = await service.db.inTenant(tenantId, (tx) =>
      tx.entity.findMany({ where: { tenantId }, select: { state: true } }),
    );
    expect(states).toEqual([{ state: 'Archived' }]);
    expect(await history()).toEqual(['PendingReview Archived owner', 'Draft PendingReview ann']);
  });

  it('get one history row for a move that was requested here and published by their owner', async () => {
    const { tenantId, move, history } = aTemplate('Draft');
    await move('ann', 'PendingReview');
    const published = [...owner.moves.values()].at(-1)!;
    await publishMove(messaging, tenantId, published);
    await move('bob', 'Draft');
    await publishMove(messaging, tenantId, [...owner.moves.values()].at(-1)!);
    await publishMove(
      messaging,
      tenantId,
      movedOf({ entityType: 'Template', entityId: 'other', from: 'Draft', to: 'Published', actorId: 'x' }),
    );
    await eventually(async () => {
      const { body } = await aCallerOf(tenantId).get('/workflow/Template/other/history');
      return body.totalCount === 1;
    });
    expect(await history()).toEqual(['PendingReview Draft bob', 'Draft PendingReview ann']);
  });

  const aCallerOf = (tenantId: string) => service.as(aCaller({ tenantId }));

  it('are moved once by all attempts of one operation', async () => {
    const { move, history } = aTemplate('Draft');
    const before = owner.moves.size;
    expect(await move('ann', 'PendingReview', 'operation')).toBe('Completed PendingReview');
    expect(await move('ann', 'PendingReview', 'operation')).toBe('Completed PendingReview');
    expect(owner.moves.size).toBe(before + 1);
    expect(await history()).toHaveLength(1);
  });

  it('are not moved again by a retry after a crash before the move was recorded', async () => {
    const { tenantId, move, history } = aTemplate('Draft');
    expect(await move('ann', 'PendingReview', 'operation')).toBe('Completed PendingReview');
    const published = [...owner.moves.values()].at(-1)!;
    const admin = new Client({ connectionString: service.database!.adminUrl });
    await admin.connect();
    for (const table of ['operation', 'move', 'entity'])
      await admin.query(`DELETE FROM ${table} WHERE tenant_id = $1`, [tenantId]);
    await admin.end();

    await publishMove(messaging, tenantId, published);
    await eventually(async () => (await history()).length === 1);

    expect(await move('ann', 'PendingReview', 'operation')).toBe('Completed PendingReview');
    expect(await history()).toHaveLength(1);
  });

  it('are moved once when two approvers of a tenant’s own definition complete a request together', async () => {
    const { requireApproval, move, moveByOwner, history, status, tenantId } = aTemplate();
    await requireApproval('Publish');

    for (let round = 0; round < 5; round++) {
      await moveByOwner(round === 0 ? 'Draft' : 'Published', 'PendingReview');
      const before = (await history()).length;
      expect(await move('ann', 'Published')).toBe('ApprovalRequested PendingApproval');
      expect((await status()).currentState).toBe('PendingApproval');
      expect(await move('ann', 'Published')).toBe('Denied PendingApproval');

      const outcomes = await Promise.all([move('bob', 'Published'), move('cem', 'Published')]);

      expect(outcomes.toSorted()).toEqual(['Completed Published', 'InvalidTransition Published']);
      const lastMove = [...owner.moves.values()].at(-1)!;
      await publishMove(messaging, tenantId, lastMove);
      expect((await history()).slice(0, -before || undefined)).toEqual([
        `PendingApproval Published ${lastMove.movedBy}`,
        'PendingReview PendingApproval ann',
      ]);
      expect((await status()).currentState).toBe('Published');
    }
  });

  it('have the same approver in both services, even if the response to the faster one arrives last', async () => {
    const { requireApproval, move, moveByOwner, history, tenantId } = aTemplate();
    await requireApproval('Publish');
    await moveByOwner('Draft', 'PendingReview');
    await move('ann', 'Published');
    const fasterMoved = Promise.withResolvers<void>();
    const slowerResponded = Promise.withResolvers<void>();
    owner.held.set('move cem', fasterMoved.promise).set('response bob', slowerResponded.promise);
    const movesBefore = owner.moves.size;

    const slower = move('cem', 'Published');
    await eventually(() => owner.requestedBy.includes('cem'));
    const faster = move('bob', 'Published');
    await eventually(() => owner.moves.size > movesBefore);
    fasterMoved.resolve();
    await slower;
    slowerResponded.resolve();

    expect([await faster, await slower]).toEqual(['Completed Published', 'InvalidTransition Published']);
    const lastMove = [...owner.moves.values()].at(-1)!;
    expect(lastMove.movedBy).toBe('bob');
    await publishMove(messaging, tenantId, lastMove);
    expect(await history()).toEqual([
      'PendingApproval Published bob',
      'PendingReview PendingApproval ann',
      'Draft PendingReview owner',
    ]);
  });

  it('end an open approval as overtaken when their owner moves them', async () => {
    const { requireApproval, as, move, moveByOwner, history, status, tenantId } = aTemplate();
    await requireApproval('Publish');
    await moveByOwner('Draft', 'PendingReview');
    await move('ann', 'Published');
    owner.setState(tenantId, 'welcome', 'Draft');

    expect((await status()).currentState).toBe('Draft');
    await publishMove(
      messaging,
      tenantId,
      movedOf({
        entityType: 'Template',
        entityId: 'welcome',
        from: 'PendingReview',
        to: 'Draft',
        actorId: 'cem',
      }),
    );
    await eventually(async () => (await history()).length === 4);
    expect(await history()).toEqual([
      'PendingReview Draft cem',
      'PendingApproval PendingReview system',
      'PendingReview PendingApproval ann',
      'Draft PendingReview owner',
    ]);
    expect((await as('bob').get('/workflow/approvals')).body.items).toEqual([]);
    expect(await move('ann', 'PendingReview')).toBe('Completed PendingReview');
  });

  describe('that are changed while a request for approval is open', () => {
    /** A draft in its first version, whose submission needs an approval that ann has requested. */
    const aRequestedDraft = async (version: string) => {
      const template = aTemplate('Draft');
      const { tenantId, as, move, requireApproval } = template;
      await requireApproval('Submit');
      const setVersion = (to: string) => owner.setVersion(tenantId, 'welcome', to);
      setVersion(version);
      expect(await move('ann', 'PendingReview')).toBe('ApprovalRequested PendingApproval');
      const requests = async () =>
        (await as('bob').get('/workflow/approvals')).body.items as { id: string }[];
      return { ...template, setVersion, requests };
    };
    const ended = (tenantId: string) => publishedEvents(service, tenantId, approvalEnded);

    it('end it as overtaken, and are not moved by who agrees', async () => {
      const { tenantId, setVersion, move, status, requests, history } = await aRequestedDraft('first');
      setVersion('second');
      expect((await status()).currentState).toBe('Draft');

      expect(await move('bob', 'PendingReview')).toBe('InvalidTransition Draft');

      expect(await history()).toEqual(['PendingApproval Draft system', 'Draft PendingApproval ann']);
      expect(await ended(tenantId)).toMatchObject([{ end: 'Overtaken', endedBy: 'system' }]);
      expect(await publishedEvents(service, tenantId, transitionExecuted)).toMatchObject([
        { newState: 'PendingApproval' },
        { newState: 'Draft', approvalEnd: 'Overtaken' },
      ]);
      expect(await requests()).toEqual([]);
      expect(owner.requestedBy).toEqual([]);
    });

    it('can be requested again at once by who requested it', async () => {
      const { setVersion, move, history } = await aRequestedDraft('first');
      setVersion('second');

      expect(await move('ann', 'PendingReview')).toBe('ApprovalRequested PendingApproval');
      expect(await move('bob', 'PendingReview')).toBe('Completed PendingReview');

      expect(await history()).toEqual([
        'PendingApproval PendingReview bob',
        'Draft PendingApproval ann',
        'PendingApproval Draft system',
        'Draft PendingApproval ann',
      ]);
    });

    it('are not moved where the change comes between the decision and the move', async () => {
      const { tenantId, setVersion, move, status, history } = await aRequestedDraft('first');
      const changed = Promise.withResolvers<void>();
      owner.held.set('move bob', changed.promise);

      const decision = move('bob', 'PendingReview');
      await eventually(() => owner.requestedBy.includes('bob'));
      setVersion('second');
      changed.resolve();

      expect(await decision).toBe('InvalidTransition Draft');
      expect(await history()).toEqual(['PendingApproval Draft system', 'Draft PendingApproval ann']);
      expect(await ended(tenantId)).toMatchObject([{ end: 'Overtaken' }]);
      expect((await status()).currentState).toBe('Draft');
    });

    it.each([
      ['an owner that knew no versions when it was requested', '', 'second'],
      ['an owner that knows none any more, as one of the version before', 'first', ''],
    ])('can be moved by it as before with %s', async (_, before, after) => {
      const { setVersion, move } = await aRequestedDraft(before);
      setVersion(after);
      expect(await move('bob', 'PendingReview')).toBe('Completed PendingReview');
    });
  });

  it('cannot get a definition with other states than their owner’s', async () => {
    const response = await aCallerOf(newId()).put('/workflow/definitions/Template', {
      initialState: 'Draft',
      transitions: [{ name: 'Go', from: 'Draft', to: 'Gone' }],
    });
    expect(response.status).toBe(422);
    expect(response.body.errors.states).toEqual(['Service:Validation:ImmutableValidator']);
  });

  it('cannot be moved while their owner is unavailable (503)', async () => {
    const withoutOwner = await startWorkflow({ environment: { GRPC_SERVICES: 'template=127.0.0.1:1' } });
    const http = withoutOwner.as(aCaller());
    const response = await http.post('/workflow/Template/welcome/transition', {
      targetState: 'PendingReview',
    });
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toMatch(/^\d+$/);
    expect((await http.post('/workflow/Invoice/1/transition', { targetState: 'Submitted' })).status).toBe(
      200,
    );
    await withoutOwner.close();
  });
});
