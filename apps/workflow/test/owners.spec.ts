import { newId } from '@plinth/kernel/uuid';
import { silentLog } from '@plinth/runtime/log';
import { connectMessaging, type Messaging } from '@plinth/runtime/nats';
import { eventually } from '@plinth/testing/eventually';
import { aCaller } from '@plinth/testing/http';
import { templateMachine } from '../src/machines/template';
import { Client } from 'pg';
import { movedOf, startOwner, tellMove } from './an-owner';
import { startWorkflow, type Workflow } from './start-workflow';

describe('entities whose state another service keeps', () => {
  let owner: Awaited<ReturnType<typeof startOwner>>;
  let service: Workflow;
  let messaging: Messaging;
  const closers: (() => unknown)[] = [];
  beforeAll(async () => {
    owner = await startOwner();
    service = await startWorkflow({ environment: { GRPC_SERVICES: `template=${owner.address}` } });
    messaging = await connectMessaging(service.config, silentLog());
    closers.push(await service.consume(), messaging.close, service.close, owner.close);
  });
  afterAll(async () => {
    for (const close of closers) await close();
  });
  afterEach(() => {
    owner.objections.splice(0);
    owner.asked.splice(0);
    owner.held.clear();
  });

  /** A template in a tenant of its own, and what people do with it. */
  const aTemplate = (state?: string) => {
    const tenantId = newId();
    if (state) owner.place(tenantId, 'welcome', state);
    const as = (userId: string, operationId?: string) =>
      service.as(aCaller({ tenantId, userId, userName: userId, operationId }));
    return {
      tenantId,
      as,
      move: async (userId: string, targetState: string, operationId?: string) => {
        const body = { targetState, comment: `by ${userId}` };
        const answer = await as(userId, operationId).post('/workflow/Template/welcome/transition', body);
        return answer.status === 200 ? `${answer.body.outcome} ${answer.body.resultingState}` : answer.status;
      },
      status: async () => (await as('reader').get('/workflow/Template/welcome/transitions')).body,
      history: async () =>
        (await as('reader').get('/workflow/Template/welcome/history')).body.items.map(
          (item: { previousState: string; newState: string; transitionedBy: string }) =>
            `${item.previousState} ${item.newState} ${item.transitionedBy}`,
        ) as string[],
    };
  };

  it('are moved by that service and remembered here', async () => {
    const { move, history, status } = aTemplate('Draft');
    expect(await move('ann', 'PendingReview')).toBe('Completed PendingReview');
    expect(await move('bob', 'Published')).toBe('Completed Published');

    expect((await status()).currentState).toBe('Published');
    expect(await history()).toEqual(['PendingReview Published bob', 'Draft PendingReview ann']);
  });

  it('stand in their initial state, and stay there, while they do not exist', async () => {
    const { move, status, history } = aTemplate();
    expect(await status()).toMatchObject({
      currentState: 'Draft',
      availableTransitions: [{ allowed: false, reasons: ['There is no such entity yet.'] }],
    });
    expect(await move('ann', 'PendingReview')).toBe('InvalidTransition Draft');
    expect(await history()).toEqual([]);
  });

  it('are not moved against an objection of that service', async () => {
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

  it('are moved once by many who ask at once', async () => {
    const { move, history } = aTemplate('Draft');
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, (_, index) => move(`user-${index}`, 'PendingReview')),
    );
    expect(outcomes.filter((outcome) => outcome === 'Completed PendingReview')).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === 'InvalidTransition PendingReview')).toHaveLength(7);
    expect(await history()).toHaveLength(1);
  });

  it('get a history row for a move that the service made by itself, once, however often it is told', async () => {
    const { tenantId, history } = aTemplate('Published');
    const moved = movedOf({
      entityType: 'Template',
      entityId: 'welcome',
      from: 'Draft',
      to: 'Published',
      actorId: 'cem',
    });
    await tellMove(messaging, tenantId, moved);
    await tellMove(messaging, tenantId, moved);
    await tellMove(messaging, tenantId, {
      ...moved,
      moveId: newId(),
      previousState: 'Published',
      newState: 'Archived',
    });

    await eventually(async () => (await history()).length === 2);
    expect(await history()).toEqual(['Published Archived cem', 'Draft Published cem']);
  });

  it('get one row for a move that was asked for here and is told too', async () => {
    const { tenantId, move, history } = aTemplate('Draft');
    await move('ann', 'PendingReview');
    const told = [...owner.made.values()].at(-1)!;
    await tellMove(messaging, tenantId, told);
    await move('bob', 'Draft');
    await tellMove(messaging, tenantId, [...owner.made.values()].at(-1)!);
    await tellMove(
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

  it('are moved once by one operation, also when its first answer was lost', async () => {
    const { move, history } = aTemplate('Draft');
    const before = owner.made.size;
    expect(await move('ann', 'PendingReview', 'operation')).toBe('Completed PendingReview');
    expect(await move('ann', 'PendingReview', 'operation')).toBe('Completed PendingReview');
    expect(owner.made.size).toBe(before + 1);
    expect(await history()).toHaveLength(1);
  });

  it('are not moved again by an operation whose process died before it wrote down what the owner did', async () => {
    const { tenantId, move, history } = aTemplate('Draft');
    expect(await move('ann', 'PendingReview', 'operation')).toBe('Completed PendingReview');
    const told = [...owner.made.values()].at(-1)!;
    const admin = new Client({ connectionString: service.database!.adminUrl });
    await admin.connect();
    for (const table of ['operation', 'move', 'entity'])
      await admin.query(`DELETE FROM ${table} WHERE tenant_id = $1`, [tenantId]);
    await admin.end();

    await tellMove(messaging, tenantId, told);
    await eventually(async () => (await history()).length === 1);

    expect(await move('ann', 'PendingReview', 'operation')).toBe('Completed PendingReview');
    expect(await history()).toHaveLength(1);
  });

  it('can need approval by a tenant’s own definition, which two people then give together', async () => {
    const { as, move, history, status, tenantId } = aTemplate('PendingReview');
    const { transitions, ...rest } = templateMachine;
    await as('admin').put('/workflow/definitions/Template', {
      ...rest,
      transitions: transitions.map((one) => ({ ...one, requiresApproval: one.name === 'Publish' })),
    });

    for (let round = 0; round < 5; round++) {
      owner.place(tenantId, 'welcome', 'PendingReview');
      const before = (await history()).length;
      expect(await move('ann', 'Published')).toBe('ApprovalRequested PendingApproval');
      expect((await status()).currentState).toBe('PendingApproval');
      expect(await move('ann', 'Published')).toBe('Denied PendingApproval');

      const outcomes = await Promise.all([move('bob', 'Published'), move('cem', 'Published')]);

      expect(outcomes.toSorted()).toEqual(['Completed Published', 'InvalidTransition Published']);
      const made = [...owner.made.values()].at(-1)!;
      await tellMove(messaging, tenantId, made);
      expect((await history()).slice(0, -before || undefined)).toEqual([
        `PendingApproval Published ${made.movedBy}`,
        'PendingReview PendingApproval ann',
      ]);
      expect((await status()).currentState).toBe('Published');
    }
  });

  it('name the same approver here and there, also when the answer to the faster one comes last', async () => {
    const { as, move, history, tenantId } = aTemplate('PendingReview');
    const { transitions, ...rest } = templateMachine;
    await as('admin').put('/workflow/definitions/Template', {
      ...rest,
      transitions: transitions.map((one) => ({ ...one, requiresApproval: one.name === 'Publish' })),
    });
    await move('ann', 'Published');
    const fasterMoved = Promise.withResolvers<void>();
    const slowerAnswered = Promise.withResolvers<void>();
    owner.held.set('move cem', fasterMoved.promise).set('answer bob', slowerAnswered.promise);
    const movesBefore = owner.made.size;

    const slower = move('cem', 'Published');
    await eventually(() => owner.asked.includes('cem'));
    const faster = move('bob', 'Published');
    await eventually(() => owner.made.size > movesBefore);
    fasterMoved.resolve();
    await slower;
    slowerAnswered.resolve();

    expect([await faster, await slower]).toEqual(['Completed Published', 'InvalidTransition Published']);
    const made = [...owner.made.values()].at(-1)!;
    expect(made.movedBy).toBe('bob');
    await tellMove(messaging, tenantId, made);
    expect(await history()).toEqual(['PendingApproval Published bob', 'PendingReview PendingApproval ann']);
  });

  it('leave a request behind when the service moves them elsewhere meanwhile', async () => {
    const { as, move, history, status, tenantId } = aTemplate('PendingReview');
    const { transitions, ...rest } = templateMachine;
    await as('admin').put('/workflow/definitions/Template', {
      ...rest,
      transitions: transitions.map((one) => ({ ...one, requiresApproval: one.name === 'Publish' })),
    });
    await move('ann', 'Published');
    owner.place(tenantId, 'welcome', 'Draft');

    expect((await status()).currentState).toBe('Draft');
    await tellMove(
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
    await eventually(async () => (await history()).length === 3);
    expect(await history()).toEqual([
      'PendingReview Draft cem',
      'PendingApproval PendingReview system',
      'PendingReview PendingApproval ann',
    ]);
    expect((await as('bob').get('/workflow/approvals')).body.items).toEqual([]);
    expect(await move('ann', 'PendingReview')).toBe('Completed PendingReview');
  });

  it('keep the states that the service knows', async () => {
    const answer = await aCallerOf(newId()).put('/workflow/definitions/Template', {
      initialState: 'Draft',
      transitions: [{ name: 'Go', from: 'Draft', to: 'Gone' }],
    });
    expect(answer.status).toBe(422);
    expect(answer.body.errors.states).toEqual(['Service:Validation:ImmutableValidator']);
  });

  it('cannot be moved while that service is away: 503, and nothing happened', async () => {
    const lonely = await startWorkflow({ environment: { GRPC_SERVICES: 'template=127.0.0.1:1' } });
    const http = lonely.as(aCaller());
    const answer = await http.post('/workflow/Template/welcome/transition', { targetState: 'PendingReview' });
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
    expect((await http.post('/workflow/Invoice/1/transition', { targetState: 'Submitted' })).status).toBe(
      200,
    );
    await lonely.close();
  });
});
