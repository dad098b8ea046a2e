import { aTenantWithOrders, APPROVER } from './a-definition';
import { startWorkflow, type Workflow } from './start-workflow';

describe('approvals', () => {
  let service: Workflow;
  beforeAll(async () => {
    service = await startWorkflow();
  });
  afterAll(() => service.close());

  it('are asked for and given by asking for the same state, each with its own row in the history', async () => {
    const { someone, move, history, options } = await aTenantWithOrders(service);
    const [ann, bob] = [someone('ann'), someone('bob', APPROVER)];

    expect(await move(ann, '1', 'Approved', 'Please')).toBe('ApprovalRequested PendingApproval');
    expect((await options(bob, '1')).currentState).toBe('PendingApproval');
    expect(await move(bob, '1', 'Approved', 'Fine')).toBe('Completed Approved');

    expect(await history('1')).toMatchObject([
      { previousState: 'PendingApproval', newState: 'Approved', transitionedBy: 'bob', comment: 'Fine' },
      { previousState: 'Draft', newState: 'PendingApproval', transitionedBy: 'ann', comment: 'Please' },
    ]);
  });

  it('are never given by who asked, also not by an administrator', async () => {
    const { someone, move, options } = await aTenantWithOrders(service);
    const boss = someone('boss', ['*']);
    await move(boss, '1', 'Approved');

    expect(await move(boss, '1', 'Approved')).toBe('Denied PendingApproval');
    expect((await options(boss, '1')).availableTransitions).toEqual([
      {
        targetState: 'Approved',
        name: 'Approve',
        allowed: false,
        requiresApproval: false,
        reasons: ['You asked for it; somebody else must decide.'],
      },
      { targetState: 'Draft', name: 'Withdraw', allowed: true, requiresApproval: false, reasons: [] },
    ]);
  });

  it('are denied by asking for the state it came from, with a comment', async () => {
    const { someone, move, history } = await aTenantWithOrders(service);
    await move(someone('ann'), '1', 'Approved');

    expect(await move(someone('bob', APPROVER), '1', 'Draft', 'Too dear')).toBe('Completed Draft');
    expect((await history('1'))[0]).toMatchObject({
      previousState: 'PendingApproval',
      newState: 'Draft',
      transitionedBy: 'bob',
      comment: 'Too dear',
    });
    expect(await move(someone('ann'), '1', 'Approved')).toBe('ApprovalRequested PendingApproval');
  });

  it('can be withdrawn by who asked, and by nobody else who may not approve', async () => {
    const { someone, move } = await aTenantWithOrders(service);
    await move(someone('ann'), '1', 'Approved');

    expect(await move(someone('cem'), '1', 'Draft')).toBe('Denied PendingApproval');
    expect(await move(someone('ann'), '1', 'Draft')).toBe('Completed Draft');
  });

  it('leave no other way while they are open', async () => {
    const { someone, move } = await aTenantWithOrders(service);
    await move(someone('ann'), '1', 'Approved');

    expect(await move(someone('bob', APPROVER), '1', 'Cancelled')).toBe('InvalidTransition PendingApproval');
    expect(await move(someone('bob', APPROVER), '1', 'PendingApproval')).toBe(
      'InvalidTransition PendingApproval',
    );
  });

  it('by a permission are for its holders', async () => {
    const { someone, move } = await aTenantWithOrders(service, { permission: 'Settings.Tenant.Manage' });
    await move(someone('ann'), '1', 'Approved');

    expect(await move(someone('bob', APPROVER), '1', 'Approved')).toBe('Denied PendingApproval');
    expect(await move(someone('cem', [...APPROVER, 'Settings.Tenant.Manage']), '1', 'Approved')).toBe(
      'Completed Approved',
    );
  });

  it('by named people are for these, and `All` waits for each of them', async () => {
    const { someone, move } = await aTenantWithOrders(service, { users: ['bob', 'cem'], mode: 'All' });
    await move(someone('ann'), '1', 'Approved');

    expect(await move(someone('dee', APPROVER), '1', 'Approved')).toBe('Denied PendingApproval');
    expect(await move(someone('bob'), '1', 'Approved')).toBe('ApprovalRequested PendingApproval');
    expect(await move(someone('bob'), '1', 'Approved')).toBe('Denied PendingApproval');
    expect(await move(someone('cem'), '1', 'Approved')).toBe('Completed Approved');
  });

  it('by `All` of whom one asked need the others only', async () => {
    const { someone, move } = await aTenantWithOrders(service, { users: ['bob', 'cem'], mode: 'All' });
    await move(someone('bob'), '1', 'Approved');

    expect(await move(someone('cem'), '1', 'Approved')).toBe('Completed Approved');
  });

  it('by n of m are given by any n of them, and ended by one who denies', async () => {
    const { someone, move } = await aTenantWithOrders(service, {
      users: ['bob', 'cem', 'dee'],
      mode: 'Count',
      count: 2,
    });
    await move(someone('ann'), '1', 'Approved');
    expect(await move(someone('dee'), '1', 'Approved')).toBe('ApprovalRequested PendingApproval');
    expect(await move(someone('bob'), '1', 'Approved')).toBe('Completed Approved');

    await move(someone('ann'), '2', 'Approved');
    await move(someone('dee'), '2', 'Approved');
    expect(await move(someone('cem'), '2', 'Draft')).toBe('Completed Draft');
  });

  it('cannot be asked for by the only one who could give them', async () => {
    const { someone, move, options } = await aTenantWithOrders(service, { users: ['bob'] });

    expect((await options(someone('bob'), '1')).availableTransitions[0]).toMatchObject({
      allowed: false,
      reasons: ['Nobody but you could approve it.'],
    });
    expect(await move(someone('bob'), '1', 'Approved')).toBe('Denied Draft');
  });

  it('wait in the inbox of those who may give them, until they have', async () => {
    const { someone, move, inbox } = await aTenantWithOrders(service, {
      users: ['bob', 'cem'],
      mode: 'All',
    });
    await move(someone('ann'), '1', 'Approved', 'Please');

    expect(await inbox(someone('bob'))).toMatchObject([
      {
        entityType: 'Order',
        entityId: '1',
        transitionName: 'Approve',
        formerState: 'Draft',
        targetState: 'Approved',
        requestedBy: 'ann',
        comment: 'Please',
        approvalsNeeded: 2,
        approvalsGiven: 0,
        onBehalfOf: null,
      },
    ]);
    expect(await inbox(someone('ann', APPROVER))).toEqual([]);
    expect(await inbox(someone('dee', ['*']))).toEqual([]);
    await move(someone('bob'), '1', 'Approved');
    expect(await inbox(someone('bob'))).toEqual([]);
    expect(await inbox(someone('cem'))).toHaveLength(1);
    await move(someone('cem'), '1', 'Approved');
    expect(await inbox(someone('cem'))).toEqual([]);
  });

  it('are listed in pages, by cursor and by filter', async () => {
    const { someone, move } = await aTenantWithOrders(service);
    for (const id of ['1', '2', '3']) await move(someone('ann'), id, 'Approved');
    const http = service.as(someone('bob', APPROVER));

    const all = await http.get('/workflow/approvals?pageSize=2');
    expect(all.body).toMatchObject({ totalCount: 3, hasMore: true });
    const first = await http.get('/workflow/approvals?pageSize=2&cursor=');
    const second = await http.get(`/workflow/approvals?pageSize=2&cursor=${first.body.nextCursor}`);
    const ids = [...first.body.items, ...second.body.items].map(({ entityId }) => entityId);
    expect(ids).toEqual(['1', '2', '3']);
    const two = await http.get('/workflow/approvals?filter[entityId.eq]=2');
    expect(two.body.items).toHaveLength(1);
    expect((await http.get('/workflow/approvals?sort=comment')).status).toBe(400);
  });

  it('of many approvers at once count every one of them', async () => {
    const users = Array.from({ length: 8 }, (_, index) => `user-${index}`);
    const { someone, move, history } = await aTenantWithOrders(service, { users, mode: 'All' });
    await move(someone('ann'), '1', 'Approved');

    const outcomes = await Promise.all(users.map((user) => move(someone(user), '1', 'Approved')));

    expect(outcomes.filter((outcome) => outcome === 'Completed Approved')).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === 'ApprovalRequested PendingApproval')).toHaveLength(7);
    expect(await history('1')).toHaveLength(2);
  });

  it('of which one is given and one refused at once have one end', async () => {
    const { someone, move, history } = await aTenantWithOrders(service);
    for (let round = 0; round < 10; round++) {
      const id = `race-${round}`;
      await move(someone('ann'), id, 'Approved');
      const outcomes = await Promise.all([
        move(someone('bob', APPROVER), id, 'Approved'),
        move(someone('cem', APPROVER), id, 'Draft'),
      ]);
      // An approver who comes when the refusal is already done finds a draft, and so asks anew.
      const askedAnew =
        outcomes[0] === 'ApprovalRequested PendingApproval' && outcomes[1] === 'Completed Draft';
      const refused = outcomes.filter((outcome) => outcome.startsWith('InvalidTransition'));
      expect(outcomes.filter((outcome) => outcome.startsWith('Completed'))).toHaveLength(1);
      expect(refused).toHaveLength(askedAnew ? 0 : 1);
      expect(await history(id)).toHaveLength(askedAnew ? 3 : 2);
    }
  });

  it('are never given by somebody who meant to ask at the same moment', async () => {
    const { someone, move } = await aTenantWithOrders(service);
    for (let round = 0; round < 10; round++) {
      const outcomes = await Promise.all([
        move(someone('bob', APPROVER), `both-${round}`, 'Approved'),
        move(someone('cem', APPROVER), `both-${round}`, 'Approved'),
      ]);
      // Either both read before one wrote, or one came after the other and approved.
      expect([
        'ApprovalRequested PendingApproval,InvalidTransition PendingApproval',
        'ApprovalRequested PendingApproval,Completed Approved',
      ]).toContain(outcomes.sort().join());
    }
  });
});
