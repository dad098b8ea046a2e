import { DELEGATION_DAYS_MAX } from '../src/domain/delegation';
import { aTenantWithOrders, APPROVER, USER } from './a-definition';
import { startWorkflow, type Workflow } from './start-workflow';

const DAY = 86_400_000;
/** Fewer than a tenant has connections: others would wait for one, and not for as long as a slow machine takes. */
const AT_ONCE = 8;

describe('delegations of approvals', () => {
  let service: Workflow;
  let now = new Date('2026-03-01T12:00:00Z');
  beforeAll(async () => {
    service = await startWorkflow({ clock: { now: () => now } });
  });
  afterAll(() => service.close());

  const inDays = (days: number) => new Date(now.getTime() + days * DAY).toISOString();

  it('let another user approve in the delegator’s place for a limited time', async () => {
    const { user, move, openApprovals } = await aTenantWithOrders(service);
    const [bob, dee] = [user('bob', APPROVER), user('dee', USER)];
    await move(user('ann'), '1', 'Approved');
    expect(await move(dee, '1', 'Approved')).toBe('Denied PendingApproval');

    const given = await service
      .as(bob)
      .post('/workflow/delegations', { delegateId: 'dee', from: inDays(1), until: inDays(3) });

    expect(given.status).toBe(201);
    expect(given.headers.get('location')).toBe(`/api/v1/workflow/delegations/${given.body.id}`);
    expect(await openApprovals(dee)).toEqual([]);
    now = new Date(now.getTime() + 2 * DAY);
    expect(await openApprovals(dee)).toMatchObject([{ entityId: '1', onBehalfOf: 'bob' }]);
    expect(await move(dee, '1', 'Approved')).toBe('Completed Approved');

    await move(user('ann'), '2', 'Approved');
    now = new Date(now.getTime() + 2 * DAY);
    expect(await move(dee, '2', 'Approved')).toBe('Denied PendingApproval');
  });

  it('are given by people, not by API keys, which may be revoked', async () => {
    const { user } = await aTenantWithOrders(service);
    const byKey = service.as({ ...user('bob', APPROVER), apiKeyId: '01900000-0000-7000-8000-00000000a001' });

    const refused = await byKey.post('/workflow/delegations', { delegateId: 'dee', until: inDays(1) });

    expect(refused.status).toBe(403);
    expect(refused.body.type).toContain('/problems/api-key-not-for-keys');
  });

  it('are forgotten when they are over and their user gives the next one', async () => {
    const { user } = await aTenantWithOrders(service);
    const http = service.as(user('bob', APPROVER));
    const give = (until: string) =>
      http.post('/workflow/delegations', { delegateId: 'dee', from: inDays(0), until });
    const [short, long] = [(await give(inDays(1))).body, (await give(inDays(9))).body];
    now = new Date(now.getTime() + 2 * DAY);
    expect((await give(inDays(1))).status).toBe(201);

    const stored = await service.db.inTenant(user('bob', APPROVER).tenantId, (tx) =>
      tx.delegation.findMany(),
    );
    expect(stored.map(({ id }) => id)).toContain(long.id);
    expect(stored.map(({ id }) => id)).not.toContain(short.id);
  });

  it('never count for the requester, as delegate or as delegator', async () => {
    const { user, move, openApprovals } = await aTenantWithOrders(service);
    const [ann, bob, dee] = [user('ann', APPROVER), user('bob', APPROVER), user('dee', USER)];
    await service.as(bob).post('/workflow/delegations', { delegateId: 'ann', until: inDays(1) });
    await service.as(ann).post('/workflow/delegations', { delegateId: 'dee', until: inDays(1) });
    await move(ann, '1', 'Approved');

    expect(await move(ann, '1', 'Approved')).toBe('Denied PendingApproval');
    expect(await openApprovals(dee)).toEqual([]);
    expect(await move(dee, '1', 'Approved')).toBe('Denied PendingApproval');
  });

  it('give no user two votes, and no delegator two votes', async () => {
    const { user, move } = await aTenantWithOrders(service, { users: ['bob', 'cem'], mode: 'All' });
    const [bob, cem] = [user('bob'), user('cem')];
    await service.as(cem).post('/workflow/delegations', { delegateId: 'bob', until: inDays(1) });
    await move(user('ann'), '1', 'Approved');

    expect(await move(bob, '1', 'Approved')).toBe('ApprovalRequested PendingApproval');
    expect(await move(bob, '1', 'Approved')).toBe('Denied PendingApproval');
    expect(await move(cem, '1', 'Approved')).toBe('Completed Approved');

    await service.as(cem).post('/workflow/delegations', { delegateId: 'dee', until: inDays(1) });
    await move(user('ann'), '2', 'Approved');
    expect(await move(user('dee'), '2', 'Approved')).toBe('ApprovalRequested PendingApproval');
    expect(await move(cem, '2', 'Approved')).toBe('Denied PendingApproval');
  });

  it('are visible to the two users they concern, and withdrawn by the delegator', async () => {
    const { user } = await aTenantWithOrders(service);
    const [bob, dee, eve] = ['bob', 'dee', 'eve'].map((name) => service.as(user(name, APPROVER)));
    const { body: given } = await bob!.post('/workflow/delegations', { delegateId: 'dee', until: inDays(1) });
    const path = `/workflow/delegations/${given.id}`;

    expect((await dee!.get('/workflow/delegations')).body).toMatchObject([{ delegatorId: 'bob' }]);
    expect((await bob!.get(path)).body).toEqual(given);
    expect((await eve!.get(path)).body.type).toMatch(/\/problems\/delegation-not-found$/);
    expect((await eve!.delete(path)).status).toBe(404);
    expect((await dee!.delete(path)).status).toBe(403);
    expect((await bob!.delete(path)).status).toBe(204);
    expect((await bob!.get(path)).status).toBe(404);
    expect((await dee!.get('/workflow/delegations')).body).toEqual([]);
  });

  it('may last as many days as are allowed while clocks are set back', async () => {
    const { user } = await aTenantWithOrders(service);
    const bob = service.as(user('bob', APPROVER));
    const until = inDays(DELEGATION_DAYS_MAX + 1 / 24);

    expect((await bob.post('/workflow/delegations', { delegateId: 'dee', until })).status).toBe(201);
  });

  it.each([
    ['to oneself', { delegateId: 'bob', until: 1 }, 'delegateId'],
    ['that end before they begin', { delegateId: 'dee', from: 2, until: 1 }, 'until'],
    ['that are over', { delegateId: 'dee', from: -2, until: -1 }, 'until'],
    ['that last too long', { delegateId: 'dee', until: DELEGATION_DAYS_MAX + 1 }, 'until'],
    [
      'that begin when the role may be long gone',
      { delegateId: 'dee', from: DELEGATION_DAYS_MAX + 1, until: DELEGATION_DAYS_MAX + 2 },
      'from',
    ],
  ])(
    '%s are refused',
    async (
      _description,
      { delegateId, from, until }: { delegateId: string; from?: number; until: number },
      field,
    ) => {
      const { user } = await aTenantWithOrders(service);
      const body = { delegateId, from: from === undefined ? undefined : inDays(from), until: inDays(until) };
      const response = await service.as(user('bob', APPROVER)).post('/workflow/delegations', body);

      expect(response.status).toBe(422);
      expect(Object.keys(response.body.errors)).toEqual([field]);
    },
  );

  it('are refused beyond a hundred that one user gives and that are not over, however many are given at once', async () => {
    const { user } = await aTenantWithOrders(service);
    const http = service.as(user('generous', APPROVER));
    const give = (delegateId: string) =>
      http.post('/workflow/delegations', { delegateId, from: inDays(0), until: inDays(1) });
    for (let begin = 0; begin < 96; begin += AT_ONCE) {
      const given = await Promise.all(
        Array.from({ length: AT_ONCE }, (_, index) => give(`user-${begin + index}`)),
      );
      expect(given.map((response) => response.status)).toEqual(Array(AT_ONCE).fill(201));
    }
    const last = await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => give(`last-${index}`)));
    expect(last.filter((response) => response.status === 201)).toHaveLength(4);

    const { status, body } = await give('one-more');

    expect({ status, body }).toMatchObject({
      status: 429,
      body: { quota: { name: 'workflow-delegations', scope: 'user', limit: 100, used: 100 } },
    });
    now = new Date(now.getTime() + 2 * DAY);
    expect((await give('one-more')).status).toBe(201);
  });

  it('are refused beyond a hundred that one user receives and that are not over', async () => {
    const { user } = await aTenantWithOrders(service);
    const give = (delegator: string) =>
      service
        .as(user(delegator, APPROVER))
        .post('/workflow/delegations', { delegateId: 'dee', from: inDays(0), until: inDays(1) });
    for (let begin = 0; begin < 96; begin += AT_ONCE)
      await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => give(`user-${begin + index}`)));
    const last = await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => give(`last-${index}`)));
    expect(last.filter((response) => response.status === 201)).toHaveLength(4);

    expect((await give('one-more')).body).toMatchObject({
      quota: { name: 'workflow-delegations-received', scope: 'user', limit: 100, used: 100 },
    });
    now = new Date(now.getTime() + 2 * DAY);
    expect((await give('one-more')).status).toBe(201);
  });

  it('created by two attempts of one operation are one delegation', async () => {
    const { user } = await aTenantWithOrders(service);
    const bob = service.as({ ...user('bob', APPROVER), operationId: 'operation-1' });
    const body = { delegateId: 'dee', until: inDays(1) };

    const first = await bob.post('/workflow/delegations', body);
    const again = await bob.post('/workflow/delegations', body);

    expect(again.body).toEqual(first.body);
    expect((await bob.get('/workflow/delegations')).body).toHaveLength(1);
  });

  it('are withdrawn by one of two requests, and once for all attempts of one operation', async () => {
    const { user } = await aTenantWithOrders(service);
    const bob = user('bob', APPROVER);
    const give = async () =>
      (await service.as(bob).post('/workflow/delegations', { delegateId: 'dee', until: inDays(1) })).body.id;
    const withdraw = async (id: string, more = {}) =>
      (await service.as({ ...bob, ...more }).delete(`/workflow/delegations/${id}`)).status;
    const [first, second] = [await give(), await give()];

    expect((await Promise.all([withdraw(first), withdraw(first)])).sort()).toEqual([204, 404]);
    const operation = { operationId: 'operation-1' };
    const attempts = [withdraw(second, operation), withdraw(second, operation)];
    expect(await Promise.all(attempts)).toEqual([204, 204]);
  });
});
