import { silentLog } from '@plinth/runtime/process/log';
import { Registry } from 'prom-client';
import { approverQuotaOf } from '../src/store/approver-quota';
import { aCaller } from '@plinth/testing/http';
import { aTenantWithOrders } from './a-definition';
import { startWorkflow, type Workflow } from './start-workflow';

const LIMIT = 50;

describe('the quota of who may decide open requests', () => {
  let service: Workflow;
  /** Another replica, which remembers nothing of what the first one did. */
  let other: Workflow;
  const environment = { WORKFLOW_TENANT_APPROVERS_MAX: String(LIMIT) };
  beforeAll(async () => {
    service = await startWorkflow({ environment });
    other = await startWorkflow({ environment, databaseUrl: service.databaseUrl });
  });
  afterAll(async () => {
    await other.close();
    await service.close();
  });

  const users = (count: number) => Array.from({ length: count }, (_, at) => `user-${at}`);
  type Client = ReturnType<Workflow['as']>;
  const request = (admin: Client, entityId: string, targetState = 'Approved') =>
    admin.post(`/workflow/Order/${entityId}/transition`, { targetState });
  const refused = {
    status: 429,
    body: { quota: { name: 'workflow-approvers', scope: 'tenant', limit: LIMIT } },
  };

  it('refuses requests beyond it, and nothing else', async () => {
    const { admin } = await aTenantWithOrders(service, {
      users: users(15),
      permission: 'Workflow.Transitions.Approve',
    });
    const opened = [await request(admin, '1'), await request(admin, '2')];
    expect(opened.map(({ body }) => body.outcome)).toEqual(['ApprovalRequested', 'ApprovalRequested']);

    expect(await request(admin, '3')).toMatchObject(refused);
    expect((await request(admin, '3', 'Cancelled')).body).toMatchObject({ outcome: 'Completed' });
    expect((await request(admin, '2', 'Draft')).status).toBe(200);
  });

  it('has room for those to whom a request escalates from its beginning', async () => {
    const timers = { escalateAfterSeconds: 60, escalateTo: { users: users(40) } };
    const { admin } = await aTenantWithOrders(service, { users: users(20) }, timers);
    expect(await request(admin, '1')).toMatchObject(refused);
  });

  it('counts them while the request is open, before it escalates too', async () => {
    const timers = { escalateAfterSeconds: 60, escalateTo: { users: users(20) } };
    const approvers = { users: users(1), permission: 'Workflow.Transitions.Approve' };
    const { admin, tenantId } = await aTenantWithOrders(service, approvers, timers);
    expect((await request(admin, '1')).body).toMatchObject({ outcome: 'ApprovalRequested' });
    expect((await request(admin, '2')).body).toMatchObject({ outcome: 'ApprovalRequested' });
    expect((await request(admin, '2', 'Draft')).status).toBe(200);

    const quota = approverQuotaOf({
      db: service.db,
      log: silentLog(),
      metrics: new Registry(),
      limit: 1_000_000,
    });
    await quota.whenKnown(tenantId, 1_000_000);
    expect(quota.hasRoom(tenantId, 1_000_000 - 23)).toBe(true);
    expect(quota.hasRoom(tenantId, 1_000_000 - 22)).toBe(false);
  });

  it('is asked about what is decided, also where what a replica remembers is outdated', async () => {
    const { admin, tenantId } = await aTenantWithOrders(service);
    const definition = {
      initialState: 'Draft',
      transitions: [
        { name: 'Check', from: 'Draft', to: 'Checked' },
        { name: 'Pass', from: 'Draft', to: 'Passed' },
        {
          name: 'Approve',
          from: 'Checked',
          to: 'Passed',
          requiresApproval: true,
          approvers: { users: users(LIMIT + 1) },
        },
      ],
    };
    expect((await admin.put('/workflow/definitions/Order', definition)).status).toBe(200);
    const elsewhere = other.as(aCaller({ tenantId, userId: 'admin' }));
    expect((await request(elsewhere, '1', 'Passed')).body).toMatchObject({ outcome: 'Completed' });
    expect((await request(admin, '2', 'Checked')).body).toMatchObject({ outcome: 'Completed' });

    // The other replica takes it to be in its first state, from which it would be moved without a request.
    expect(await request(elsewhere, '2', 'Passed')).toMatchObject(refused);
  });
});
