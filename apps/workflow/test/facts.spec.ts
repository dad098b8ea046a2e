import {
  approvalEnded,
  approvalGranted,
  approvalRequested,
  definitionChanged,
  transitionExecuted,
} from '@plinth/contracts/workflow/events';
import { silentLog } from '@plinth/runtime/log';
import { connectMessaging, hearOnEveryReplica } from '@plinth/runtime/nats';
import type { EventEnvelope } from '@plinth/kernel/event';
import { eventually } from '@plinth/testing/eventually';
import { aTenantWithOrders, APPROVER } from './a-definition';
import { startWorkflow, type Workflow } from './start-workflow';
import { toldBy } from './told';

describe('what the service tells', () => {
  let service: Workflow;
  beforeAll(async () => {
    service = await startWorkflow();
  });
  afterAll(() => service.close());

  it('is every step of every entity, in order, with who took it', async () => {
    const messaging = await connectMessaging(service.config, silentLog());
    const heard: EventEnvelope[] = [];
    const close = hearOnEveryReplica(messaging, transitionExecuted, (event) => heard.push(event));
    await messaging.check();
    const { tenantId, someone, move } = await aTenantWithOrders(service);

    await move(someone('ann'), '1', 'Approved', 'Please');
    await move(someone('bob', APPROVER), '1', 'Approved');

    const events = await eventually(() => heard.length === 2 && heard);
    expect(events).toMatchObject([
      {
        tenantId,
        subject: 'Order/1',
        actorId: 'ann',
        payload: {
          entityType: 'Order',
          entityId: '1',
          transitionName: 'Approve',
          previousState: 'Draft',
          newState: 'PendingApproval',
          comment: 'Please',
          transitionedBy: 'ann',
          position: 1,
        },
      },
      { actorId: 'bob', payload: { previousState: 'PendingApproval', newState: 'Approved', position: 2 } },
    ]);
    await close();
    await messaging.close();
  });

  it('is every request for approval, every vote and every end', async () => {
    const { tenantId, someone, move } = await aTenantWithOrders(service, {
      users: ['bob', 'cem'],
      mode: 'All',
    });
    await move(someone('ann'), '1', 'Approved', 'Please');
    await move(someone('bob'), '1', 'Approved', 'Fine');
    await move(someone('cem'), '1', 'Draft', 'No');

    const requested = await toldBy(service, tenantId, approvalRequested);
    expect(requested).toMatchObject([
      { approverUsers: ['bob', 'cem'], comment: 'Please', requestedBy: 'ann' },
    ]);
    const { approvalId } = requested[0]!;
    expect(await toldBy(service, tenantId, approvalGranted)).toMatchObject([
      {
        approvalId,
        grantedBy: 'bob',
        onBehalfOf: null,
        approvalsGiven: 1,
        approvalsNeeded: 2,
        comment: 'Fine',
      },
    ]);
    expect(await toldBy(service, tenantId, approvalEnded)).toMatchObject([
      { approvalId, end: 'Denied', endedBy: 'cem', comment: 'No' },
    ]);
  });

  it('is every definition that changed', async () => {
    const { tenantId, admin } = await aTenantWithOrders(service);
    await admin.delete('/workflow/definitions/Order');
    expect(await toldBy(service, tenantId, definitionChanged)).toEqual([
      { entityType: 'Order', version: 1, withdrawn: false },
      { entityType: 'Order', version: 2, withdrawn: true },
    ]);
  });

  it('is nothing where nothing happened', async () => {
    const { tenantId, someone, move } = await aTenantWithOrders(service);
    await move(someone('ann'), '1', 'Nowhere');
    await move(someone('ann', ['Workflow.Transitions.Read']), '1', 'Cancelled');
    expect(await toldBy(service, tenantId, transitionExecuted)).toEqual([]);
  });
});
