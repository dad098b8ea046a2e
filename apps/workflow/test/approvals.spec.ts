import { newId } from '@plinth/kernel/uuid';
import { aCaller } from '@plinth/testing/http';
import { interruptedDatabase } from '@plinth/testing/interrupted-database';
import { firstRows } from '@plinth/testing/list-requests';
import { approvalStore } from '../src/store/approval-store';
import { aTenantWithOrders, APPROVER } from './a-definition';
import { startWorkflow, type Workflow } from './start-workflow';

describe('approvals', () => {
  let service: Workflow;
  beforeAll(async () => {
    service = await startWorkflow();
  });
  afterAll(() => service.close());

  it('are requested and given with the same target state, each with a row in the history', async () => {
    const { user, move, history, options } = await aTenantWithOrders(service);
    const [ann, bob] = [user('ann'), user('bob', APPROVER)];

    expect(await move(ann, '1', 'Approved', 'Please')).toBe('ApprovalRequested PendingApproval');
    expect((await options(bob, '1')).currentState).toBe('PendingApproval');
    expect(await move(bob, '1', 'Approved', 'Fine')).toBe('Completed Approved');

    expect(await history('1')).toMatchObject([
      { previousState: 'PendingApproval', newState: 'Approved', transitionedBy: 'bob', comment: 'Fine' },
      { previousState: 'Draft', newState: 'PendingApproval', transitionedBy: 'ann', comment: 'Please' },
    ]);
  });

  it('are never given by their requester, not even an administrator', async () => {
    const { user, move, options } = await aTenantWithOrders(service);
    const boss = user('boss', ['*']);
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

  it('are denied by requesting the former state, with a comment', async () => {
    const { user, move, history } = await aTenantWithOrders(service);
    await move(user('ann'), '1', 'Approved');

    expect(await move(user('bob', APPROVER), '1', 'Draft', 'Too dear')).toBe('Completed Draft');
    expect((await history('1'))[0]).toMatchObject({
      previousState: 'PendingApproval',
      newState: 'Draft',
      transitionedBy: 'bob',
      comment: 'Too dear',
    });
    expect(await move(user('ann'), '1', 'Approved')).toBe('ApprovalRequested PendingApproval');
  });

  it('are given to the request that was seen, not to one that came in its place', async () => {
    const { user, move, openApprovals } = await aTenantWithOrders(service);
    const [ann, bob] = [user('ann'), user('bob', APPROVER)];
    const decide = async (targetState: string, approvalId: string) =>
      (await service.as(bob).post('/workflow/Order/1/transition', { targetState, approvalId })).body;
    await move(ann, '1', 'Approved');
    const [seen] = await openApprovals(bob);
    await move(ann, '1', 'Draft');
    await move(ann, '1', 'Approved');

    for (const target of ['Approved', 'Draft'])
      expect(await decide(target, seen!.id)).toEqual({
        succeeded: false,
        resultingState: 'PendingApproval',
        outcome: 'InvalidTransition',
      });
    const [current] = await openApprovals(bob);
    expect(await decide('Approved', current!.id.toUpperCase())).toMatchObject({ outcome: 'Completed' });
    expect(await decide('Approved', current!.id)).toMatchObject({ outcome: 'InvalidTransition' });
  });

  it('can be withdrawn by their requester, and not by users who may not approve', async () => {
    const { user, move } = await aTenantWithOrders(service);
    await move(user('ann'), '1', 'Approved');

    expect(await move(user('cem'), '1', 'Draft')).toBe('Denied PendingApproval');
    expect(await move(user('ann'), '1', 'Draft')).toBe('Completed Draft');
  });

  it('allow no other transition while they are open', async () => {
    const { user, move } = await aTenantWithOrders(service);
    await move(user('ann'), '1', 'Approved');

    expect(await move(user('bob', APPROVER), '1', 'Cancelled')).toBe('InvalidTransition PendingApproval');
    expect(await move(user('bob', APPROVER), '1', 'PendingApproval')).toBe(
      'InvalidTransition PendingApproval',
    );
  });

  it('that need a permission are given by its holders only', async () => {
    const { user, move } = await aTenantWithOrders(service, { permission: 'Settings.Tenant.Manage' });
    await move(user('ann'), '1', 'Approved');

    expect(await move(user('bob', APPROVER), '1', 'Approved')).toBe('Denied PendingApproval');
    expect(await move(user('cem', [...APPROVER, 'Settings.Tenant.Manage']), '1', 'Approved')).toBe(
      'Completed Approved',
    );
  });

  it('that name users are given by these only, and by each of them in the mode All', async () => {
    const { user, move } = await aTenantWithOrders(service, { users: ['bob', 'cem'], mode: 'All' });
    await move(user('ann'), '1', 'Approved');

    expect(await move(user('dee', APPROVER), '1', 'Approved')).toBe('Denied PendingApproval');
    expect(await move(user('bob'), '1', 'Approved')).toBe('ApprovalRequested PendingApproval');
    expect(await move(user('bob'), '1', 'Approved')).toBe('Denied PendingApproval');
    expect(await move(user('cem'), '1', 'Approved')).toBe('Completed Approved');
  });

  it('in the mode All need only the other users when one of them is the requester', async () => {
    const { user, move } = await aTenantWithOrders(service, { users: ['bob', 'cem'], mode: 'All' });
    await move(user('bob'), '1', 'Approved');

    expect(await move(user('cem'), '1', 'Approved')).toBe('Completed Approved');
  });

  it('in the mode Count are given by any n of the users, and denied by any one of them', async () => {
    const { user, move } = await aTenantWithOrders(service, {
      users: ['bob', 'cem', 'dee'],
      mode: 'Count',
      count: 2,
    });
    await move(user('ann'), '1', 'Approved');
    expect(await move(user('dee'), '1', 'Approved')).toBe('ApprovalRequested PendingApproval');
    expect(await move(user('bob'), '1', 'Approved')).toBe('Completed Approved');

    await move(user('ann'), '2', 'Approved');
    await move(user('dee'), '2', 'Approved');
    expect(await move(user('cem'), '2', 'Draft')).toBe('Completed Draft');
  });

  it('cannot be requested by the only user who could give them', async () => {
    const { user, move, options } = await aTenantWithOrders(service, { users: ['bob'] });

    expect((await options(user('bob'), '1')).availableTransitions[0]).toMatchObject({
      allowed: false,
      reasons: ['Nobody but you could approve it.'],
    });
    expect(await move(user('bob'), '1', 'Approved')).toBe('Denied Draft');
  });

  it('are listed for users who may give them until these have voted', async () => {
    const { user, move, openApprovals } = await aTenantWithOrders(service, {
      users: ['bob', 'cem'],
      mode: 'All',
    });
    await move(user('ann'), '1', 'Approved', 'Please');

    expect(await openApprovals(user('bob'))).toMatchObject([
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
    expect(await openApprovals(user('ann', APPROVER))).toEqual([]);
    expect(await openApprovals(user('dee', ['*']))).toEqual([]);
    await move(user('bob'), '1', 'Approved');
    expect(await openApprovals(user('bob'))).toEqual([]);
    expect(await openApprovals(user('cem'))).toHaveLength(1);
    await move(user('cem'), '1', 'Approved');
    expect(await openApprovals(user('cem'))).toEqual([]);
  });

  it('are listed in pages, by cursor and by filter', async () => {
    const { user, move } = await aTenantWithOrders(service);
    for (const id of ['1', '2', '3']) await move(user('ann'), id, 'Approved');
    const http = service.as(user('bob', APPROVER));

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

  it('are listed as they are at one instant, with their number, also where one is given meanwhile', async () => {
    const { user, move, openApprovals } = await aTenantWithOrders(service);
    const bob = user('bob', APPROVER);
    await move(user('ann'), '1', 'Approved');
    const db = interruptedDatabase(service.db, '$queryRaw', () => move(bob, '1', 'Approved'));
    const list = firstRows('requestedAt', false, { wantsTotalCount: true });

    const { rows, totalCount } = await approvalStore(db).waitingFor(bob, service.clock.now(), list);

    expect([rows.length, totalCount]).toEqual([1, 1]);
    expect(await openApprovals(bob)).toEqual([]);
  });

  it('count the votes of many approvers who vote at the same time', async () => {
    const users = Array.from({ length: 8 }, (_, index) => `user-${index}`);
    const { user, move, history } = await aTenantWithOrders(service, { users, mode: 'All' });
    await move(user('ann'), '1', 'Approved');

    const outcomes = await Promise.all(users.map((userId) => move(user(userId), '1', 'Approved')));

    expect(outcomes.filter((outcome) => outcome === 'Completed Approved')).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === 'ApprovalRequested PendingApproval')).toHaveLength(7);
    expect(await history('1')).toHaveLength(2);
  });

  it('that are given and denied at the same time end once', async () => {
    const { user, move, history } = await aTenantWithOrders(service);
    for (let round = 0; round < 10; round++) {
      const id = `race-${round}`;
      await move(user('ann'), id, 'Approved');
      const outcomes = await Promise.all([
        move(user('bob', APPROVER), id, 'Approved'),
        move(user('cem', APPROVER), id, 'Draft'),
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

  it('are never given by a user who requested the move at the same time', async () => {
    const { user, move } = await aTenantWithOrders(service);
    for (let round = 0; round < 10; round++) {
      const outcomes = await Promise.all([
        move(user('bob', APPROVER), `both-${round}`, 'Approved'),
        move(user('cem', APPROVER), `both-${round}`, 'Approved'),
      ]);
      // Either both read before one wrote, or one came after the other and approved.
      expect([
        'ApprovalRequested PendingApproval,InvalidTransition PendingApproval',
        'ApprovalRequested PendingApproval,Completed Approved',
      ]).toContain(outcomes.sort().join());
    }
  });

  it('are listed without the comments of votes, and many of them in turns', async () => {
    const { user, move } = await aTenantWithOrders(service, {
      permission: 'Workflow.Transitions.Approve',
      mode: 'Count',
      count: 3,
    });
    await move(user('ann'), '1', 'Approved');
    await move(user('bob', APPROVER), '1', 'Approved', 'Fine');
    const cem = user('cem', APPROVER);

    const { rows } = await service.approvals.waitingFor(cem, service.clock.now(), firstRows('requestedAt'));
    expect(rows[0]!.votes).toEqual([{ seat: 'bob', voterId: 'bob' }]);

    const others = [user('x'), aCaller({ tenantId: newId() })];
    for (const other of others) expect(service.pageReads.tryEnter(other)).toBe(true);
    const list = (pageSize: number) => service.as(cem).get(`/workflow/approvals?pageSize=${pageSize}`);
    const long = list(100).then(({ body }) => body.items);
    expect((await list(20)).body.items).toHaveLength(1);
    expect(service.pageReads.runningCount).toBe(2);
    for (const other of others) service.pageReads.leave(other);
    expect(await long).toHaveLength(1);
  });
});
