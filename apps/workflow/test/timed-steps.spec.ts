import {
  approvalEnded,
  approvalEscalated,
  approvalReminded,
  transitionExecuted,
} from '@plinth/contracts/workflow/events';
import { aTenantWithOrders, APPROVER } from './a-definition';
import { startWorkflow, type Workflow } from './start-workflow';
import { toldBy } from './told';

const HOUR = 3_600;
const timers = {
  remindAfterSeconds: HOUR,
  escalateAfterSeconds: 2 * HOUR,
  escalateTo: { users: ['boss'] },
  expireAfterSeconds: 3 * HOUR,
};

describe('time, while a request for approval is open', () => {
  let service: Workflow;
  let now = new Date('2026-03-01T12:00:00Z');
  beforeAll(async () => {
    service = await startWorkflow({ clock: { now: () => now } });
  });
  afterAll(() => service.close());

  const pass = async (seconds: number) => {
    now = new Date(now.getTime() + seconds * 1000);
    await service.timedSteps.takeAll();
    await service.timedSteps.takeAll();
  };

  it('reminds the approvers once', async () => {
    const { tenantId, someone, move } = await aTenantWithOrders(service, { users: ['bob'] }, timers);
    await move(someone('ann'), '1', 'Approved');
    await pass(HOUR - 1);
    expect(await toldBy(service, tenantId, approvalReminded)).toEqual([]);

    await pass(1);

    expect(await toldBy(service, tenantId, approvalReminded)).toMatchObject([
      { entityType: 'Order', entityId: '1', approverUsers: ['bob'], requestedBy: 'ann' },
    ]);
  });

  it('lets somebody else decide too after a while', async () => {
    const { tenantId, someone, move, inbox } = await aTenantWithOrders(service, { users: ['bob'] }, timers);
    await move(someone('ann'), '1', 'Approved');
    expect(await move(someone('boss'), '1', 'Approved')).toBe('Denied PendingApproval');
    expect(await inbox(someone('boss'))).toEqual([]);

    await pass(2 * HOUR);

    expect(await toldBy(service, tenantId, approvalEscalated)).toMatchObject([{ approverUsers: ['boss'] }]);
    expect(await inbox(someone('boss'))).toMatchObject([{ entityId: '1', isEscalated: true }]);
    expect(await inbox(someone('bob'))).toHaveLength(1);
    expect(await move(someone('boss'), '1', 'Approved')).toBe('Completed Approved');
  });

  it('ends the request, and the entity returns to its former state', async () => {
    const { tenantId, someone, move, history, inbox, options } = await aTenantWithOrders(
      service,
      undefined,
      timers,
    );
    await move(someone('ann'), '1', 'Approved');

    await pass(3 * HOUR);

    expect((await options(someone('ann'), '1')).currentState).toBe('Draft');
    expect(await inbox(someone('bob', APPROVER))).toEqual([]);
    expect(await history('1')).toMatchObject([
      { previousState: 'PendingApproval', newState: 'Draft', transitionedBy: 'system' },
      { previousState: 'Draft', newState: 'PendingApproval' },
    ]);
    expect(await toldBy(service, tenantId, approvalEnded)).toMatchObject([
      { end: 'Expired', endedBy: 'system' },
    ]);
    expect(await toldBy(service, tenantId, transitionExecuted)).toHaveLength(2);
  });

  it('counts even where nobody has looked at the clock yet: who comes too late decides nothing', async () => {
    const { someone, move } = await aTenantWithOrders(service, undefined, timers);
    await move(someone('ann'), '1', 'Approved');
    now = new Date(now.getTime() + 3 * HOUR * 1000);

    expect(await move(someone('bob', APPROVER), '1', 'Approved')).toBe('InvalidTransition Draft');
  });

  it('does nothing to a request that is over', async () => {
    const { tenantId, someone, move } = await aTenantWithOrders(service, undefined, timers);
    await move(someone('ann'), '1', 'Approved');
    await move(someone('bob', APPROVER), '1', 'Approved');

    await pass(4 * HOUR);

    expect(await toldBy(service, tenantId, approvalReminded)).toEqual([]);
    expect(await toldBy(service, tenantId, approvalEnded)).toMatchObject([{ end: 'Approved' }]);
  });

  it('does each thing once, whoever looks at the clock', async () => {
    const { tenantId, someone, move } = await aTenantWithOrders(service, undefined, timers);
    await move(someone('ann'), '1', 'Approved');
    now = new Date(now.getTime() + 4 * HOUR * 1000);

    await Promise.all(Array.from({ length: 6 }, () => service.timedSteps.takeAll()));

    expect(await toldBy(service, tenantId, approvalEnded)).toHaveLength(1);
  });
});
