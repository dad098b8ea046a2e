import { aTenantWithOrders } from './a-definition';
import { startWorkflow, type Workflow } from './start-workflow';

describe('the quota of who may decide open requests', () => {
  let service: Workflow;
  beforeAll(async () => {
    service = await startWorkflow({ environment: { WORKFLOW_TENANT_APPROVERS_MAX: '50' } });
  });
  afterAll(() => service.close());

  const users = (count: number) => Array.from({ length: count }, (_, at) => `user-${at}`);
  const request = (admin: ReturnType<Workflow['as']>, entityId: string, targetState = 'Approved') =>
    admin.post(`/workflow/Order/${entityId}/transition`, { targetState });

  it('refuses requests beyond it, and nothing else', async () => {
    const { admin } = await aTenantWithOrders(service, {
      users: users(15),
      permission: 'Workflow.Transitions.Approve',
    });
    const opened = [await request(admin, '1'), await request(admin, '2')];
    expect(opened.map(({ body }) => body.outcome)).toEqual(['ApprovalRequested', 'ApprovalRequested']);

    const refused = await request(admin, '3');
    expect({ status: refused.status, body: refused.body }).toMatchObject({
      status: 429,
      body: { quota: { name: 'workflow-approvers', scope: 'tenant', limit: 50 } },
    });
    expect((await request(admin, '3', 'Cancelled')).body).toMatchObject({ outcome: 'Completed' });
    expect((await request(admin, '2', 'Draft')).status).toBe(200);
  });

  it('has room for those to whom a request escalates from its beginning', async () => {
    const timers = { escalateAfterSeconds: 60, escalateTo: { users: users(40) } };
    const { admin } = await aTenantWithOrders(service, { users: users(20) }, timers);
    const { status, body } = await request(admin, '1');
    expect({ status, body }).toMatchObject({ status: 429, body: { quota: { name: 'workflow-approvers' } } });
  });
});
