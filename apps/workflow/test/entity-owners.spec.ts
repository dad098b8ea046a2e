import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { approvalEnded, approvalReminded, transitionExecuted } from '@plinth/contracts/workflow/events';
import { newId } from '@plinth/kernel/uuid';
import type { Messaging } from '@plinth/runtime/messaging/nats';
import { CallNotSent } from '@plinth/runtime/rpc/grpc';
import { connectedMessaging } from '@plinth/testing/connected-messaging';
import { eventually } from '@plinth/testing/eventually';
import { aCaller } from '@plinth/testing/http';
import type { Timers } from '../src/domain/definition';
import { templateDefinition } from '../src/domain/definitions/template';
import { Client } from 'pg';
import { recordOwnerMove } from '../src/store/owner-move-store';
import { requireVerification } from '../src/store/request-verification';
import { eventOf, goneOf, movesBy, publish, publishMove, startEntityOwnerStub } from './entity-owner-stub';
import { publishedEvents } from './read-published-events';
import { startWorkflow, type Workflow } from './start-workflow';

const MIGRATIONS = join(__dirname, '../prisma/migrations');
const migration = (name: string) => readFileSync(join(MIGRATIONS, name, 'migration.sql'), 'utf8');
const endOpenRequestsOfNoEntity = migration('20261126000300_open_requests_of_no_entity');
const verifyOpenRequests = migration('20261126180200_open_requests_are_verified');

describe('entities that another service owns', () => {
  let owner: Awaited<ReturnType<typeof startEntityOwnerStub>>;
  let service: Workflow;
  let messaging: Messaging;
  let secondsPassed = 0;
  let begin = 0;
  let looks = 0;
  /**
   * It goes on by a millisecond whenever somebody looks, and where a test has time pass, but not while a test waits. The
   * database, whose clock says when requests are to be verified, is behind it.
   */
  const clock = { now: () => new Date(begin + secondsPassed * 1_000 + looks++) };
  const movedOf = movesBy(clock);
  const closers: (() => unknown)[] = [];
  beforeAll(async () => {
    begin = Date.now() + 86_400_000;
    owner = await startEntityOwnerStub(clock);
    service = await startWorkflow({ environment: { GRPC_SERVICES: `template=${owner.address}` }, clock });
    messaging = await connectedMessaging(service.config);
    closers.push(await service.consume(), messaging.close, service.close, owner.close);
  });
  afterAll(async () => {
    for (const close of closers) await close();
  });
  afterEach(() => {
    owner.objections.splice(0);
    owner.requestedBy.splice(0);
    owner.held.clear();
    secondsPassed = 0;
    jest.restoreAllMocks();
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
      requireApproval: async (name: string, timers?: Partial<Timers>, users?: string[]) => {
        const { transitions, ...rest } = templateDefinition;
        const { status } = await as('admin').put('/workflow/definitions/Template', {
          ...rest,
          transitions: transitions.map((one) =>
            one.name === name
              ? {
                  ...one,
                  requiresApproval: true,
                  timers,
                  ...(users && { approvers: { users, mode: 'All' } }),
                }
              : { ...one, requiresApproval: false },
          ),
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

    const { read } = service.entities;
    // The event is on its way when the request comes, and here before the entity is read for the last time.
    const reading = jest.spyOn(service.entities, 'read');
    reading.mockImplementationOnce(async (...of) => {
      const behind = await read(...of);
      await publishMove(messaging, tenantId, movedOf({ ...publication, actorId: 'ann' }));
      reading.mockImplementationOnce(async (...again) => {
        await eventually(async () => (await history()).length > 0);
        return read(...again);
      });
      return behind;
    });

    expect(await move('bob', 'Archived')).toBe('Completed Archived');
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
    const movedAt = new Date(clock.now().getTime() - 3_600_000).toISOString();
    const moved = (from: string, to: string) => ({
      ...movedOf({ entityType: 'Template', entityId: 'welcome', from, to, actorId: 'owner' }),
      movedAt,
    });
    const earlier = moved('Draft', 'Published');
    await publishMove(messaging, tenantId, moved('Published', 'Draft'));
    await publishMove(messaging, tenantId, earlier);

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
    const record = (from: string, to: string, movedAt: string, sequence: number) => {
      const moved = movedOf({ entityType: 'Template', entityId: 'welcome', from, to, actorId: 'owner' });
      const event = { ...eventOf(tenantId, { ...moved, movedAt }), sequence, deliveryCount: 4 };
      return service.db.inTenant(tenantId, (tx) => recordOwnerMove(tx, event));
    };
    const recorded = () =>
      service.db.inTenant(tenantId, (tx) =>
        tx.entity.findMany({ where: { tenantId }, select: { state: true, approvalId: true } }),
      );
    await record('Published', 'Draft', '2026-11-26T10:00:02Z', 3);
    await record('Draft', 'Published', '2026-11-26T10:00:00Z', 1);
    await record('Published', 'Archived', '2026-11-26T10:00:01Z', 2);

    expect(await recorded()).toEqual([{ state: 'Draft', approvalId: null }]);
    expect(await history()).toEqual([
      'Published Archived owner',
      'Draft Published owner',
      'Published Draft owner',
    ]);
    expect(await move('ann', 'PendingReview')).toBe('Completed PendingReview');
  });

  it('are moved back by a process of their owner whose clock is behind, also where the response was first', async () => {
    const { tenantId, move, history } = aTemplate('Draft');
    const record = (payload: ReturnType<typeof movedOf>, sequence: number) =>
      service.db.inTenant(tenantId, (tx) =>
        recordOwnerMove(tx, { ...eventOf(tenantId, payload), sequence, deliveryCount: 4 }),
      );
    const moved = (from: string, to: string, movedAt: string) => ({
      ...movedOf({ entityType: 'Template', entityId: 'welcome', from, to, actorId: 'owner' }),
      movedAt,
    });
    const states = async () =>
      (await service.db.inTenant(tenantId, (tx) => tx.entity.findMany({ where: { tenantId } }))).map(
        ({ state }) => state,
      );
    expect(await move('ann', 'PendingReview')).toBe('Completed PendingReview');
    await record([...owner.moves.values()].at(-1)!, 101);

    await record(moved('PendingReview', 'Draft', '2026-01-01T00:00:00Z'), 102);
    expect(await states()).toEqual(['Draft']);
    expect(await history()).toEqual(['PendingReview Draft owner', 'Draft PendingReview ann']);

    await record(moved('Draft', 'Archived', '2026-01-01T00:00:00Z'), 100);
    expect(await states()).toEqual(['Draft']);
    await record(moved('Draft', 'Archived', '2036-01-01T00:00:00Z'), 3);
    expect(await states()).toEqual(['Archived']);
  });

  it('stay where their last move left them where the clock of an earlier one was ahead, and follow one that is later by far', async () => {
    const { tenantId, history } = aTemplate('Draft');
    const record = (from: string, to: string, movedAt: string, sequence: number, deliveryCount = 1) => {
      const moved = movedOf({ entityType: 'Template', entityId: 'welcome', from, to, actorId: 'owner' });
      const event = { ...eventOf(tenantId, { ...moved, movedAt }), sequence, deliveryCount };
      return service.db.inTenant(tenantId, (tx) => recordOwnerMove(tx, event));
    };
    const states = async () =>
      (await service.db.inTenant(tenantId, (tx) => tx.entity.findMany({ where: { tenantId } }))).map(
        ({ state }) => state,
      );
    await record('Published', 'Draft', '2026-11-26T10:00:00Z', 10, 4);
    await record('Draft', 'Published', '2026-11-26T10:00:10Z', 9);
    expect(await states()).toEqual(['Draft']);
    expect(await history()).toEqual(['Draft Published owner', 'Published Draft owner']);

    // As of a database that was restored and gives its latest numbers again.
    await expect(record('Published', 'Archived', '2026-11-26T10:02:00Z', 9)).rejects.toThrow(
      'not recorded yet',
    );
    await record('Published', 'Archived', '2026-11-26T10:02:00Z', 9, 4);
    expect(await states()).toEqual(['Archived']);
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
    for (const table of ['executed_operation', 'move', 'entity'])
      await admin.query(`DELETE FROM ${table} WHERE tenant_id = $1`, [tenantId]);
    await admin.end();

    await publishMove(messaging, tenantId, published);
    await eventually(async () => (await history()).length === 1);

    expect(await move('ann', 'PendingReview', 'operation')).toBe('Completed PendingReview');
    expect(await move('ann', 'Published', 'operation')).toBe(422);
    expect(await history()).toHaveLength(1);
  });

  it.each(['is still on its way', 'is recorded', 'is recorded meanwhile'])(
    'are moved by an operation whose response was lost, also where its event %s',
    async (event) => {
      const { tenantId, move, history, requireApproval } = aTemplate('Draft');
      await requireApproval('Publish');
      const loseResponses = (userId: string) => {
        const lost = Promise.reject(new Error('The response is lost.'));
        lost.catch(() => undefined);
        owner.held.set(`response ${userId}`, lost);
      };
      const record = async () => {
        if (event === 'is still on its way') return;
        const rows = (await history()).length;
        await publishMove(messaging, tenantId, [...owner.moves.values()].at(-1)!);
        await eventually(async () => (await history()).length > rows);
      };
      loseResponses('ann');
      expect(await move('ann', 'PendingReview', 'submit')).toBeGreaterThanOrEqual(500);
      await record();
      expect(await move('bob', 'PendingReview', 'another')).toBe('InvalidTransition PendingReview');
      expect(await move('ann', 'PendingReview', 'submit')).toBe('Completed PendingReview');
      expect(await history()).toEqual(['Draft PendingReview ann']);

      expect(await move('ann', 'Published', 'request')).toBe('ApprovalRequested PendingApproval');
      loseResponses('bob');
      expect(await move('bob', 'Published', 'approve')).toBeGreaterThanOrEqual(500);
      if (event === 'is recorded') await record();
      expect(await move('cem', 'Published', 'approve too')).toMatch('InvalidTransition');
      if (event === 'is recorded meanwhile') {
        const { entities } = service;
        const find = entities.findCompletionAttempt;
        jest.spyOn(entities, 'findCompletionAttempt').mockImplementationOnce(async (...of) => {
          const found = await find(...of);
          await record();
          return found;
        });
      }
      expect(await move('bob', 'Published', 'approve')).toBe('Completed Published');
      expect(await history()).toEqual([
        'PendingApproval Published bob',
        'PendingReview PendingApproval ann',
        'Draft PendingReview ann',
      ]);
    },
  );

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

  it('end an open approval as overtaken when a move of theirs was on its way while it was requested', async () => {
    const { requireApproval, as, move, moveByOwner, history, tenantId } = aTemplate();
    await requireApproval('Publish');
    await moveByOwner('Draft', 'PendingReview');
    const moved = Promise.withResolvers<void>();
    owner.held.set('move ann', moved.promise);

    const returned = move('ann', 'Draft');
    await eventually(() => owner.requestedBy.includes('ann'));
    expect(await move('bob', 'Published')).toBe('ApprovalRequested PendingApproval');
    moved.resolve();

    expect(await returned).toBe('Completed Draft');
    expect((await history()).slice(0, 3)).toEqual([
      'PendingReview Draft ann',
      'PendingApproval PendingReview system',
      'PendingReview PendingApproval bob',
    ]);
    expect((await as('cem').get('/workflow/approvals')).body.items).toEqual([]);
    expect(await publishedEvents(service, tenantId, approvalEnded)).toMatchObject([
      { end: 'Overtaken', endedBy: 'system' },
    ]);
    expect(await move('ann', 'PendingReview')).toBe('Completed PendingReview');
    expect(await move('bob', 'Published')).toBe('ApprovalRequested PendingApproval');
  });

  it.each(['gone', 'made again'])(
    'end an open approval into their initial state once they are %s',
    async (what) => {
      const { requireApproval, as, move, moveByOwner, status, tenantId } = aTemplate();
      await requireApproval('Return');
      await moveByOwner('Draft', 'PendingReview');
      expect(await move('ann', 'Draft')).toBe('ApprovalRequested PendingApproval');
      owner.remove(tenantId, 'welcome');
      if (what === 'made again') owner.setState(tenantId, 'welcome', 'Draft');

      expect((await status()).currentState).toBe('Draft');
      expect(await move('bob', 'Draft')).toBe('InvalidTransition Draft');

      expect((await as('bob').get('/workflow/approvals')).body.items).toEqual([]);
      expect(await publishedEvents(service, tenantId, approvalEnded)).toMatchObject([{ end: 'Overtaken' }]);
    },
  );

  it('are refused a move at once, and moved soon, where their owner made them again without an event', async () => {
    const { move, moveByOwner, tenantId } = aTemplate();
    await moveByOwner('Draft', 'PendingReview');
    owner.setState(tenantId, 'welcome', 'Draft');
    const describedBefore = owner.described();

    expect(await move('ann', 'Published')).toBe('InvalidTransition Draft');
    expect(owner.described() - describedBefore).toBe(1);
    expect(await move('ann', 'PendingReview')).toBe('Completed PendingReview');
    expect(owner.described() - describedBefore).toBeLessThan(12);
  });

  it('can be requested again where a version before left a request open for ever', async () => {
    const { requireApproval, as, move, moveByOwner, tenantId } = aTemplate();
    await requireApproval('Publish');
    await moveByOwner('Draft', 'PendingReview');
    await move('ann', 'Published');
    const requests = async () => (await as('bob').get('/workflow/approvals')).body.items;
    const other = aTemplate();
    await other.requireApproval('Publish');
    await other.moveByOwner('Draft', 'PendingReview');
    await other.move('ann', 'Published');
    const admin = new Client({ connectionString: service.database!.adminUrl });
    await admin.connect();
    await admin.query('UPDATE entity SET approval_id = NULL WHERE tenant_id = $1', [tenantId]);
    expect(await requests()).toHaveLength(1);

    // Row-level security holds for who owns the tables, as in a migration.
    await admin.query(`BEGIN; SET LOCAL ROLE plinth_workflow_owner; ${endOpenRequestsOfNoEntity}; COMMIT`);
    await admin.end();

    expect(await requests()).toEqual([]);
    expect(await move('ann', 'Published')).toBe('ApprovalRequested PendingApproval');
    expect(await other.move('bob', 'Published')).toBe('Completed Published');
  });

  describe('whose publication was requested, and approved by someone', () => {
    const EXPIRE_SECONDS = 15;
    const LATER_THAN_ANY_MOVE = 121;

    const aRequest = async ({
      users,
      timers = { expireAfterSeconds: EXPIRE_SECONDS },
    }: { users?: string[]; timers?: Partial<Timers> } = {}) => {
      const template = aTemplate();
      await template.requireApproval('Publish', timers, users);
      await template.moveByOwner('Draft', 'PendingReview');
      expect(await template.move('ann', 'Published')).toBe('ApprovalRequested PendingApproval');
      const { tenantId, as } = template;
      const [{ id }] = (await as('bob').get('/workflow/approvals')).body.items as [{ id: string }];
      const ends = async () =>
        (await publishedEvents(service, tenantId, approvalEnded)).map(
          ({ end, endedBy }) => `${end} ${endedBy}`,
        );
      return { ...template, id, ends, expire: () => service.approvalTimers.processDueSteps(tenantId, id) };
    };
    /** As where the process of an approver ends when it has just asked the owner to make the move. */
    const approveAndEnd = async (tenantId: string) => {
      const key = { tenantId, entityType: 'Template', entityId: 'welcome' };
      const now = service.clock.now();
      const { snapshot } = await service.entities.read(key, { userId: 'bob', now });
      const until = new Date(now.getTime() + 60_000);
      expect(await service.entities.setMovingUntil(key, snapshot, until)).toBeDefined();
    };

    const delegate = async (
      as: Awaited<ReturnType<typeof aRequest>>['as'],
      from: string,
      to: string,
    ): Promise<void> => {
      const now = clock.now().getTime();
      const [start, end] = [now - 1_000, now + 60_000].map((at) => new Date(at).toISOString());
      const delegation = { delegateId: to, from: start, until: end };
      const { status } = await as(from).post('/workflow/delegations', delegation);
      expect(status).toBe(201);
    };

    it.each(['withdraws it', 'denies it'])('are moved though the other one %s meanwhile', async (what) => {
      const { move, history, ends } = await aRequest();
      const moved = Promise.withResolvers<void>();
      owner.held.set('move bob', moved.promise);

      const approval = move('bob', 'Published');
      await eventually(() => owner.requestedBy.includes('bob'));
      const other = await move(what === 'denies it' ? 'cem' : 'ann', 'PendingReview');
      moved.resolve();

      expect([await approval, other]).toEqual(['Completed Published', 'InvalidTransition PendingApproval']);
      expect((await history())[0]).toBe('PendingApproval Published bob');
      expect(await ends()).toEqual(['Approved bob']);
    });

    it('are moved though it expires meanwhile', async () => {
      const { move, expire, ends } = await aRequest();
      const moved = Promise.withResolvers<void>();
      owner.held.set('move bob', moved.promise);

      const approval = move('bob', 'Published');
      await eventually(() => owner.requestedBy.includes('bob'));
      secondsPassed = EXPIRE_SECONDS;
      const waitMilliseconds = await expire();
      expect(await move('cem', 'Published')).toBe('InvalidTransition PendingApproval');
      moved.resolve();

      expect(waitMilliseconds).toBeGreaterThan(0);
      expect(await approval).toBe('Completed Published');
      expect(await ends()).toEqual(['Approved bob']);
    });

    it.each([
      { what: 'expires', end: 'Expired system' },
      { what: 'is denied', end: 'Denied cem' },
    ])(
      'are not moved by a process that was frozen so long that the request $what meanwhile',
      async ({ what, end }) => {
        const { move, expire, ends, history } = await aRequest(what === 'expires' ? {} : { timers: {} });
        const movesBefore = owner.moves.size;
        const thawed = Promise.withResolvers<void>();
        owner.held.set('move bob', thawed.promise);

        const approval = move('bob', 'Published');
        await eventually(() => owner.requestedBy.includes('bob'));
        secondsPassed = LATER_THAN_ANY_MOVE;
        if (what === 'expires') await expire();
        else expect(await move('cem', 'PendingReview')).toBe('Completed PendingReview');
        thawed.resolve();

        expect(await approval).toBe('InvalidTransition PendingReview');
        expect(owner.moves.size).toBe(movesBefore);
        expect(await ends()).toEqual([end]);
        const [, endedBy] = end.split(' ');
        expect((await history())[0]).toBe(`PendingApproval PendingReview ${endedBy}`);
      },
    );

    it('can be denied at once where the owner could not be asked for the move', async () => {
      const { move, ends } = await aRequest();
      jest.spyOn(service.owners.get('Template')!, 'apply').mockRejectedValueOnce(new CallNotSent('template'));
      expect(await move('bob', 'Published')).toBe(503);

      expect(await move('cem', 'PendingReview')).toBe('Completed PendingReview');
      expect(await ends()).toEqual(['Denied cem']);
    });

    it('can be denied at once where the owner refused the move', async () => {
      const { move, tenantId, ends } = await aRequest();
      owner.refusals.add(`${tenantId} bob`);
      expect(await move('bob', 'Published')).toBe('Denied PendingApproval');

      expect(await move('cem', 'PendingReview')).toBe('Completed PendingReview');
      expect(await ends()).toEqual(['Denied cem']);
    });

    it('have no attempt to complete them recorded where something happened to them meanwhile', async () => {
      const { tenantId } = await aRequest();
      const key = { tenantId, entityType: 'Template', entityId: 'welcome' };
      const reader = { userId: 'bob', now: service.clock.now() };
      const { snapshot } = await service.entities.read(key, reader);
      await approveAndEnd(tenantId);

      const operation = { operationId: newId() };
      expect(await service.entities.setMovingUntil(key, snapshot, reader.now, operation)).toBeUndefined();
      expect(await service.entities.findCompletionAttempt(tenantId, operation)).toBeUndefined();
    });

    it('stay approvable after a crash, and can be withdrawn once no move is to come', async () => {
      const { move, tenantId, ends } = await aRequest();
      await approveAndEnd(tenantId);
      expect(await move('ann', 'PendingReview')).toBe('InvalidTransition PendingApproval');
      expect(await move('bob', 'Published')).toBe('Completed Published');
      expect(await ends()).toEqual(['Approved bob']);

      const another = await aRequest();
      await approveAndEnd(another.tenantId);
      secondsPassed = LATER_THAN_ANY_MOVE;
      await another.expire();
      expect(await another.ends()).toEqual(['Expired system']);
      expect(await another.move('ann', 'Published')).toBe('ApprovalRequested PendingApproval');
      expect(await another.move('ann', 'PendingReview')).toBe('Completed PendingReview');
    });

    it.each(['a seat that is left', 'none'])(
      'are recorded by their owner’s event, where its approver’s own seat is taken, with a vote from %s',
      async (left) => {
        const { tenantId, as, move, history, id } = await aRequest({ users: ['cem', 'bob'] });
        await delegate(as, 'bob', 'dan');
        if (left !== 'none') await delegate(as, 'cem', 'bob');
        expect(await move('dan', 'Published')).toBe('ApprovalRequested PendingApproval');
        await approveAndEnd(tenantId);
        owner.setState(tenantId, 'welcome', 'Published');

        const moved = { entityType: 'Template', entityId: 'welcome', from: 'PendingReview', to: 'Published' };
        await publishMove(messaging, tenantId, movedOf({ ...moved, moveId: id, actorId: 'bob' }));

        await eventually(async () => (await history())[0] === 'PendingApproval Published bob');
        expect((await as('cem').get('/workflow/approvals')).body.items).toEqual([]);
      },
    );

    it('are recorded by their owner’s event with a vote in the place of whose delegate approved it', async () => {
      const { tenantId, as, history, id } = await aRequest({ users: ['bob'] });
      await delegate(as, 'bob', 'dan');
      await approveAndEnd(tenantId);
      owner.setState(tenantId, 'welcome', 'Published');

      const moved = { entityType: 'Template', entityId: 'welcome', from: 'PendingReview', to: 'Published' };
      await publishMove(messaging, tenantId, movedOf({ ...moved, moveId: id, actorId: 'dan' }));

      await eventually(async () => (await history())[0] === 'PendingApproval Published dan');
      const votes = await service.db.inTenant(tenantId, (tx) =>
        tx.approvalVote.findMany({ where: { tenantId } }),
      );
      expect(votes).toMatchObject([{ seat: 'bob', voterId: 'dan' }]);
    });

    it('do not expire after a crash behind the move, which their owner’s event gets recorded', async () => {
      const { tenantId, id, expire, history, ends } = await aRequest();
      await approveAndEnd(tenantId);
      owner.setState(tenantId, 'welcome', 'Published');
      secondsPassed = LATER_THAN_ANY_MOVE;

      expect(await expire()).toBeGreaterThan(0);
      expect(await ends()).toEqual([]);
      const moved = { entityType: 'Template', entityId: 'welcome', from: 'PendingReview', to: 'Published' };
      await publishMove(messaging, tenantId, movedOf({ ...moved, moveId: id, actorId: 'bob' }));

      await eventually(async () => (await ends()).length > 0);
      expect(await ends()).toEqual(['Approved bob']);
      expect((await history())[0]).toBe('PendingApproval Published bob');
      expect(await expire()).toBeNull();
    });
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

  describe('that are gone while a request for approval is open', () => {
    /** A draft whose submission needs an approval that ann has requested, of which bob is to be reminded. */
    const aRequestedDraft = async (version: string) => {
      const template = aTemplate('Draft');
      const { tenantId, as, move, requireApproval } = template;
      await requireApproval('Submit', { remindAfterSeconds: 60 });
      owner.setVersion(tenantId, 'welcome', version);
      expect(await move('ann', 'PendingReview')).toBe('ApprovalRequested PendingApproval');
      const requests = async () => (await as('bob').get('/workflow/approvals')).body.items as unknown[];
      /** Performs what is due for requests of this tenant; false where nothing is. */
      const performDue = async () => {
        const due = await service.approvals.findDue(tenantId, service.clock.now(), undefined, 10);
        for (const { id } of due) await service.approvalTimers.processDueSteps(tenantId, id);
        return due.length > 0;
      };
      /** Verifies what is to be verified; false where nothing of this tenant is. */
      const verify = async () => {
        const tenantIds = await service.approvals.tenantsToVerify(service.clock.now());
        while (await service.verifications.verifyDue());
        return tenantIds.includes(tenantId);
      };
      const ended = () => publishedEvents(service, tenantId, approvalEnded);
      return { ...template, requests, performDue, verify, ended };
    };

    it.each([
      ['gone', undefined],
      ['made again as something else', 'second'],
    ])(
      'end it where they are %s, as their owner published, and nobody is reminded of it',
      async (_, version) => {
        const { tenantId, status, history, requests, performDue, verify, ended } =
          await aRequestedDraft('first');
        expect(await requests()).toHaveLength(1);
        if (version === undefined) owner.remove(tenantId, 'welcome');
        else owner.setVersion(tenantId, 'welcome', version);
        expect(await verify()).toBe(false);

        const event = goneOf(tenantId);
        await publish(messaging, event);
        await publish(messaging, event);
        await eventually(async () => {
          await verify();
          return (await ended()).length > 0;
        });

        expect(await requests()).toEqual([]);
        expect(await ended()).toMatchObject([{ end: 'Overtaken', endedBy: 'system' }]);
        expect(await history()).toEqual(['PendingApproval Draft system', 'Draft PendingApproval ann']);
        expect((await status()).currentState).toBe('Draft');
        secondsPassed = 120;
        expect(await performDue()).toBe(false);
        expect(await publishedEvents(service, tenantId, approvalReminded)).toEqual([]);
      },
    );

    it('end it where they were gone before their owner published that', async () => {
      const [gone, stored] = [await aRequestedDraft('first'), await aRequestedDraft('first')];
      owner.remove(gone.tenantId, 'welcome');
      const admin = new Client({ connectionString: service.database!.adminUrl });
      await admin.connect();
      await admin.query(`BEGIN; SET LOCAL ROLE plinth_workflow_owner; ${verifyOpenRequests}; COMMIT`);
      await admin.end();

      expect(await gone.verify()).toBe(true);
      expect(await gone.requests()).toEqual([]);
      expect(await stored.requests()).toHaveLength(1);
      expect(await stored.verify()).toBe(false);
      secondsPassed = 61;
      expect(await stored.verify()).toBe(false);
    });

    it('do not end one that was made for them after they were made again', async () => {
      const { tenantId, move, requests, performDue, verify, ended } = await aRequestedDraft('first');
      owner.setVersion(tenantId, 'welcome', 'second');
      expect(await move('ann', 'PendingReview')).toBe('ApprovalRequested PendingApproval');
      expect(await ended()).toMatchObject([{ end: 'Overtaken' }]);

      await service.db.inTenant(tenantId, (tx) => requireVerification(tx, goneOf(tenantId)));
      expect(await verify()).toBe(true);

      expect(await requests()).toHaveLength(1);
      expect(await verify()).toBe(false);
      expect(await performDue()).toBe(false);
      secondsPassed = 90;
      expect(await performDue()).toBe(true);
      expect(await publishedEvents(service, tenantId, approvalReminded)).toHaveLength(1);
      expect(await move('bob', 'PendingReview')).toBe('Completed PendingReview');
    });

    it('end one that was made while they were deleted, also where their owner cannot be asked just then', async () => {
      const { tenantId, move, requests, verify, ended } = await aRequestedDraft('first');
      expect(await move('bob', 'Draft')).toBe('Completed Draft');
      await verify();
      const asked = jest.spyOn(service.owners.get('Template')!, 'describe');
      const found = { exists: true, state: 'Draft', objections: [], version: null };
      asked.mockResolvedValueOnce(found).mockRejectedValueOnce(new CallNotSent('template'));
      owner.remove(tenantId, 'welcome');
      expect(await move('ann', 'PendingReview')).toBe('ApprovalRequested PendingApproval');

      asked.mockRejectedValueOnce(new CallNotSent('template'));
      expect(await verify()).toBe(true);
      expect(await requests()).toHaveLength(1);
      expect(await verify()).toBe(false);
      secondsPassed = 61;
      expect(await verify()).toBe(true);
      expect(await requests()).toEqual([]);

      asked.mockResolvedValueOnce(found);
      expect(await move('ann', 'PendingReview')).toBe('ApprovalRequested PendingApproval');
      expect(await requests()).toEqual([]);
      expect(await ended()).toMatchObject([{ end: 'Denied' }, { end: 'Overtaken' }, { end: 'Overtaken' }]);
      expect(await verify()).toBe(false);
    });

    it('have each request verified by one process at a time, and again where that is required meanwhile', async () => {
      const { tenantId } = await aRequestedDraft('first');
      const { approvals } = service;
      const require = () => service.db.inTenant(tenantId, (tx) => requireVerification(tx, goneOf(tenantId)));
      await require();
      // As a process of the version before may write it, which knows nothing of verifications.
      await service.db.inTenant(tenantId, (tx) =>
        tx.approval.updateMany({ where: { tenantId }, data: { nextStepAt: null } }),
      );
      const now = new Date(Date.now() + 1_000);
      const [until, afterwards] = [60_000, 120_000].map((ms) => new Date(now.getTime() + ms)) as [Date, Date];
      const claim = (at: Date, until = afterwards, without: string[] = []) =>
        approvals.claimVerifications(tenantId, at, { until, without, limit: 10 });
      expect(await claim(now, until, ['Template'])).toEqual([]);

      const claims = await Promise.all([1, 2].map(() => claim(now, until)));
      const [claimed] = claims.flat();
      expect(claims.flat()).toHaveLength(1);
      expect(await claim(now)).toEqual([]);

      await require();
      await approvals.recordVerified(tenantId, claimed!);
      const [again] = await claim(now);
      expect(again).toMatchObject({ id: claimed!.id });
      await approvals.recordVerified(tenantId, again!);
      expect(await claim(afterwards)).toEqual([]);
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
