import { eventsOf } from '@plinth/testing/published-events';
import { findUnserializable, type Write } from '@plinth/testing/serial-orders';
import { aTenantWithOrders, APPROVER, orderDefinition, USER } from './a-definition';
import { withTwoWorkflows } from './start-workflow';

describe('two writes at the same moment', () => {
  const workflows = withTwoWorkflows();

  /** An order whose approval ann has requested, one that nobody has touched, and a user who may approve in bob's place. */
  const setUp = async () => {
    const { tenantId, user, admin } = await aTenantWithOrders(workflows.first);
    const permissionsOf: Record<string, string[]> = { ann: USER, dee: USER, admin: ['*'] };
    /** Each operation comes to a replica of its own. */
    const as = (userId: string, operationId = 'one') => {
      const replica = operationId === 'one' ? workflows.first : workflows.second;
      const caller = user(userId, permissionsOf[userId] ?? APPROVER);
      return replica.as({ ...caller, operationId: `${operationId} ${userId}` });
    };
    const move = (userId: string, operationId: string, entityId: string, targetState: string) =>
      as(userId, operationId).post(`/workflow/Order/${entityId}/transition`, { targetState });
    await move('ann', 'set-up', '1', 'Approved');
    const until = new Date(Date.now() + 86_400_000).toISOString();
    const delegation = await as('bob', 'set-up').post('/workflow/delegations', { delegateId: 'dee', until });
    const definition = await admin.get('/workflow/definitions/Order');
    return {
      tenantId,
      as,
      move,
      until,
      delegationId: delegation.body.id as string,
      etag: definition.headers.get('etag')!,
    };
  };
  type World = Awaited<ReturnType<typeof setUp>>;

  const withoutApproval = {
    ...orderDefinition(),
    transitions: [{ name: 'Approve', from: 'Draft', to: 'Approved' }],
  };
  const writes: Record<string, Write<World>> = {
    'bob approves': ({ move }, id) => move('bob', id, '1', 'Approved'),
    'cem approves': ({ move }, id) => move('cem', id, '1', 'Approved'),
    'dee approves for bob': ({ move }, id) => move('dee', id, '1', 'Approved'),
    'bob ends what dee may do': ({ as, delegationId }, id) =>
      as('bob', id).delete(`/workflow/delegations/${delegationId}`),
    'bob denies': ({ move }, id) => move('bob', id, '1', 'Draft'),
    'ann withdraws': ({ move }, id) => move('ann', id, '1', 'Draft'),
    'ann cancels': ({ move }, id) => move('ann', id, '1', 'Cancelled'),
    'ann requests another': ({ move }, id) => move('ann', id, '2', 'Approved'),
    'eve requests another': ({ move }, id) => move('eve', id, '2', 'Approved'),
    'ann cancels another': ({ move }, id) => move('ann', id, '2', 'Cancelled'),
    'ann cancels it in a batch': ({ as }, id) =>
      as('ann', id).post('/workflow/transitions', {
        items: [{ entityType: 'Order', entityId: '1', targetState: 'Cancelled' }],
      }),
    'bob delegates to eve': ({ as, until }, id) =>
      as('bob', id).post('/workflow/delegations', { delegateId: 'eve', until }),
    'the definition needs no approval any more': ({ as }, id) =>
      as('admin', id).put('/workflow/definitions/Order', withoutApproval),
    'the definition that was read is saved': ({ as, etag }, id) =>
      as('admin', id).put('/workflow/definitions/Order', orderDefinition({ users: ['bob'] }), {
        headers: { 'if-match': etag },
      }),
    'the definition is withdrawn': ({ as }, id) => as('admin', id).delete('/workflow/definitions/Order'),
  };

  const observe = async ({ as }: World) => {
    const paths = [
      '/workflow/Order/1/transitions',
      '/workflow/Order/1/history',
      '/workflow/Order/2/transitions',
      '/workflow/Order/2/history',
      '/workflow/approvals',
      '/workflow/definitions/Order',
      '/workflow/delegations',
    ];
    return Promise.all(paths.map((path) => as('bob', 'observe').get(path)));
  };

  it('have an order: what is seen of them is what one after the other leads to', async () => {
    // A request is about the entity as it was when it came.
    const isLost = ({ body }: { body: unknown }) => /"InvalidTransition"/.test(JSON.stringify(body) ?? '');
    expect(
      await findUnserializable({
        setUp,
        writes,
        observe,
        eventsOf: ({ tenantId }) => eventsOf(workflows.first, tenantId),
        isLost,
      }),
    ).toEqual({});
  });
});
