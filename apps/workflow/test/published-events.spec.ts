import {
  approvalEnded,
  approvalGranted,
  approvalRequested,
  definitionChanged,
  transitionExecuted,
} from '@plinth/contracts/workflow/events';
import { subscribeBroadcast } from '@plinth/runtime/messaging/nats';
import type { EventEnvelope } from '@plinth/kernel/event';
import { connectedMessaging } from '@plinth/testing/connected-messaging';
import { eventually } from '@plinth/testing/eventually';
import { aTenantWithOrders, APPROVER } from './a-definition';
import { startWorkflow, type Workflow } from './start-workflow';
import { publishedEvents } from './read-published-events';

describe('events of the workflow service', () => {
  let service: Workflow;
  beforeAll(async () => {
    service = await startWorkflow();
  });
  afterAll(() => service.close());

  it('are published for every move of an entity, in order, with its actor', async () => {
    const messaging = await connectedMessaging(service.config);
    const received: EventEnvelope[] = [];
    const close = subscribeBroadcast(messaging, transitionExecuted, (event) => received.push(event));
    await messaging.check();
    const { tenantId, user, move } = await aTenantWithOrders(service);

    await move(user('ann'), '1', 'Approved', 'Please');
    await move(user('bob', APPROVER), '1', 'Approved');

    const events = await eventually(() => received.length === 2 && received);
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

  it('are published for every approval: its request, each vote and its end', async () => {
    const { tenantId, user, move } = await aTenantWithOrders(service, {
      users: ['bob', 'cem'],
      mode: 'All',
    });
    await move(user('ann'), '1', 'Approved', 'Please');
    await move(user('bob'), '1', 'Approved', 'Fine');
    await move(user('cem'), '1', 'Draft', 'No');

    const requested = await publishedEvents(service, tenantId, approvalRequested);
    expect(requested).toMatchObject([
      { approverUsers: ['bob', 'cem'], comment: 'Please', requestedBy: 'ann' },
    ]);
    const { approvalId } = requested[0]!;
    expect(await publishedEvents(service, tenantId, approvalGranted)).toMatchObject([
      {
        approvalId,
        grantedBy: 'bob',
        onBehalfOf: null,
        approvalsGiven: 1,
        approvalsNeeded: 2,
        comment: 'Fine',
      },
    ]);
    expect(await publishedEvents(service, tenantId, approvalEnded)).toMatchObject([
      { approvalId, end: 'Denied', endedBy: 'cem', comment: 'No' },
    ]);
  });

  it('are published for every definition that changed', async () => {
    const { tenantId, admin } = await aTenantWithOrders(service);
    await admin.delete('/workflow/definitions/Order');
    expect(await publishedEvents(service, tenantId, definitionChanged)).toEqual([
      { entityType: 'Order', version: 1, withdrawn: false },
      { entityType: 'Order', version: 2, withdrawn: true },
    ]);
  });

  it('are not published for refused transitions', async () => {
    const { tenantId, user, move } = await aTenantWithOrders(service);
    await move(user('ann'), '1', 'Nowhere');
    await move(user('ann', ['Workflow.Transitions.Read']), '1', 'Cancelled');
    expect(await publishedEvents(service, tenantId, transitionExecuted)).toEqual([]);
  });
});
