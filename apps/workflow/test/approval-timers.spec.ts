import {
  approvalEnded,
  approvalEscalated,
  approvalReminded,
  transitionExecuted,
} from '@plinth/contracts/workflow/events';
import { aTenantWithOrders, APPROVER } from './a-definition';
import { startWorkflow, type Workflow } from './start-workflow';
import { publishedEvents } from './read-published-events';

const HOUR = 3_600;
const timers = {
  remindAfterSeconds: HOUR,
  escalateAfterSeconds: 2 * HOUR,
  escalateTo: { users: ['boss'] },
  expireAfterSeconds: 3 * HOUR,
};

describe('timers of an open approval', () => {
  let service: Workflow;
  let now = new Date('2026-03-01T12:00:00Z');
  beforeAll(async () => {
    service = await startWorkflow({ clock: { now: () => now } });
  });
  afterAll(() => service.close());

  const pass = async (seconds: number) => {
    now = new Date(now.getTime() + seconds * 1000);
    await service.approvalTimers.processAllDueSteps();
    await service.approvalTimers.processAllDueSteps();
  };

  it('remind the approvers once', async () => {
    const { tenantId, user, move } = await aTenantWithOrders(service, { users: ['bob'] }, timers);
    await move(user('ann'), '1', 'Approved');
    await pass(HOUR - 1);
    expect(await publishedEvents(service, tenantId, approvalReminded)).toEqual([]);

    await pass(1);

    expect(await publishedEvents(service, tenantId, approvalReminded)).toMatchObject([
      { entityType: 'Order', entityId: '1', approverUsers: ['bob'], requestedBy: 'ann' },
    ]);
  });

  it('are not due again where two steps are performed by what was read before either', async () => {
    const { tenantId, user, move } = await aTenantWithOrders(service, { users: ['bob'] }, timers);
    const { approvals } = service;
    const openOf = async (entityId: string) => {
      await move(user('ann'), entityId, 'Approved');
      const later = new Date(now.getTime() + HOUR * 1_000);
      const due = await approvals.findDue(tenantId, later, undefined, 10);
      const open = await Promise.all(due.map(({ id }) => approvals.findOpen(tenantId, id)));
      return open.find((one) => one?.entityId === entityId)!;
    };
    const [first, second] = [await openOf('1'), await openOf('2')];

    await approvals.remind(tenantId, first);
    await approvals.escalate(tenantId, first);
    await approvals.escalate(tenantId, second);
    await approvals.remind(tenantId, second);

    const beforeExpiry = new Date(now.getTime() + 3 * HOUR * 1_000 - 1);
    expect(await approvals.findDue(tenantId, beforeExpiry, undefined, 10)).toEqual([]);
    expect(await publishedEvents(service, tenantId, approvalReminded)).toHaveLength(2);
    expect(await publishedEvents(service, tenantId, approvalEscalated)).toHaveLength(2);
  });

  it('let further approvers decide after the escalation', async () => {
    const { tenantId, user, move, openApprovals } = await aTenantWithOrders(
      service,
      { users: ['bob'] },
      timers,
    );
    await move(user('ann'), '1', 'Approved');
    expect(await move(user('boss'), '1', 'Approved')).toBe('Denied PendingApproval');
    expect(await openApprovals(user('boss'))).toEqual([]);

    await pass(2 * HOUR);

    expect(await publishedEvents(service, tenantId, approvalEscalated)).toMatchObject([
      { approverUsers: ['boss'] },
    ]);
    expect(await openApprovals(user('boss'))).toMatchObject([{ entityId: '1', isEscalated: true }]);
    expect(await openApprovals(user('bob'))).toHaveLength(1);
    expect(await move(user('boss'), '1', 'Approved')).toBe('Completed Approved');
  });

  it('expire the approval, so that the entity returns to its former state', async () => {
    const { tenantId, user, move, history, openApprovals, options } = await aTenantWithOrders(
      service,
      undefined,
      timers,
    );
    await move(user('ann'), '1', 'Approved');

    await pass(3 * HOUR);

    expect((await options(user('ann'), '1')).currentState).toBe('Draft');
    expect(await openApprovals(user('bob', APPROVER))).toEqual([]);
    expect(await history('1')).toMatchObject([
      { previousState: 'PendingApproval', newState: 'Draft', transitionedBy: 'system' },
      { previousState: 'Draft', newState: 'PendingApproval' },
    ]);
    expect(await publishedEvents(service, tenantId, approvalEnded)).toMatchObject([
      { end: 'Expired', endedBy: 'system' },
    ]);
    expect(await publishedEvents(service, tenantId, transitionExecuted)).toHaveLength(2);
  });

  it('refuse a decision after the expiry, even before the background task processed it', async () => {
    const { user, move } = await aTenantWithOrders(service, undefined, timers);
    await move(user('ann'), '1', 'Approved');
    now = new Date(now.getTime() + 3 * HOUR * 1000);

    expect(await move(user('bob', APPROVER), '1', 'Approved')).toBe('InvalidTransition Draft');
  });

  it('do nothing to an approval that was decided', async () => {
    const { tenantId, user, move } = await aTenantWithOrders(service, undefined, timers);
    await move(user('ann'), '1', 'Approved');
    await move(user('bob', APPROVER), '1', 'Approved');

    await pass(4 * HOUR);

    expect(await publishedEvents(service, tenantId, approvalReminded)).toEqual([]);
    expect(await publishedEvents(service, tenantId, approvalEnded)).toMatchObject([{ end: 'Approved' }]);
  });

  it('take turns between tenants, so that nobody waits for the many of another one', async () => {
    const [many, one] = [
      await aTenantWithOrders(service, undefined, timers),
      await aTenantWithOrders(service, undefined, timers),
    ];
    for (let order = 1; order <= 12; order++) await many.move(many.user('ann'), String(order), 'Approved');
    now = new Date(now.getTime() + 1000);
    await one.move(one.user('ann'), '1', 'Approved');
    now = new Date(now.getTime() + HOUR * 1000);
    const reminded = async () => [
      (await publishedEvents(service, many.tenantId, approvalReminded)).length,
      (await publishedEvents(service, one.tenantId, approvalReminded)).length,
    ];

    expect(await service.approvalTimers.processAllDueSteps()).toBe(true);
    expect(await reminded()).toEqual([10, 1]);
    expect(await service.approvalTimers.processAllDueSteps()).toBe(false);
    expect(await reminded()).toEqual([12, 1]);
  });

  it('expire an approval once when many processes find it due', async () => {
    const { tenantId, user, move } = await aTenantWithOrders(service, undefined, timers);
    await move(user('ann'), '1', 'Approved');
    now = new Date(now.getTime() + 4 * HOUR * 1000);

    await Promise.all(Array.from({ length: 6 }, () => service.approvalTimers.processAllDueSteps()));

    expect(await publishedEvents(service, tenantId, approvalEnded)).toHaveLength(1);
  });
});
