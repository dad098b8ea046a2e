import { aCaller } from '@plinth/testing/http';
import { Client } from 'pg';
import { aTenantWithOrders, APPROVER } from './a-definition';
import { startWorkflow, type Workflow } from './start-workflow';

describe('the isolation of tenants in workflow', () => {
  let service: Workflow;
  beforeAll(async () => {
    service = await startWorkflow();
  });
  afterAll(() => service.close());

  it('hides entities, approvals, delegations and definitions from other tenants', async () => {
    const ours = await aTenantWithOrders(service);
    const stranger = service.as(aCaller());
    await ours.move(ours.user('ann'), '1', 'Approved');
    const until = new Date(Date.now() + 3_600_000).toISOString();
    const { body: delegation } = await service
      .as(ours.user('ann', APPROVER))
      .post('/workflow/delegations', { delegateId: 'bob', until });

    expect((await stranger.get('/workflow/Order/1/transitions')).status).toBe(404);
    expect((await stranger.get('/workflow/Order/1/history')).status).toBe(404);
    expect((await stranger.post('/workflow/Order/1/transition', { targetState: 'Approved' })).status).toBe(
      404,
    );
    expect((await stranger.get('/workflow/definitions/Order')).status).toBe(404);
    expect((await stranger.delete('/workflow/definitions/Order')).status).toBe(404);
    expect((await stranger.get('/workflow/approvals')).body.items).toEqual([]);
    expect((await stranger.get(`/workflow/delegations/${delegation.id}`)).status).toBe(404);
    expect((await stranger.delete(`/workflow/delegations/${delegation.id}`)).status).toBe(404);
  });

  it('separates entities of the same type and id', async () => {
    const [one, other] = [service.as(aCaller()), service.as(aCaller())];
    await one.post('/workflow/Invoice/1/transition', { targetState: 'Submitted' });

    expect((await other.get('/workflow/Invoice/1/transitions')).body.currentState).toBe('Draft');
    expect((await other.get('/workflow/Invoice/1/history')).body.totalCount).toBe(0);
    expect((await other.post('/workflow/Invoice/1/transition', { targetState: 'Draft' })).body.outcome).toBe(
      'InvalidTransition',
    );
    expect((await one.get('/workflow/Invoice/1/transitions')).body.currentState).toBe('Submitted');
  });

  it('separates operations of the same id', async () => {
    const [one, other] = ['a', 'b'].map((userId) => service.as(aCaller({ userId, operationId: 'same' })));
    const submit = { targetState: 'Submitted' };
    expect((await one!.post('/workflow/Invoice/9/transition', submit)).body.outcome).toBe('Completed');
    expect((await other!.post('/workflow/Invoice/9/transition', submit)).body.outcome).toBe('Completed');
  });

  it('is enforced by the database: a query without a tenant finds nothing', async () => {
    await service.as(aCaller()).post('/workflow/Invoice/1/transition', { targetState: 'Submitted' });
    const client = new Client({ connectionString: service.databaseUrl });
    await client.connect();
    try {
      for (const table of [
        'entity',
        'move',
        'approval',
        'approval_approver',
        'approval_vote',
        'delegation',
        'operation',
        'outbox',
      ]) {
        expect((await client.query(`SELECT * FROM ${table}`)).rows).toEqual([]);
      }
      const insert = `INSERT INTO operation VALUES (gen_random_uuid(), 'x', 'Completed', 'Draft', now())`;
      await expect(client.query(insert)).rejects.toThrow(/row-level security/);
      const { rows } = await client.query(
        `SELECT relname FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attname = 'tenant_id'
         WHERE relkind = 'r' AND NOT (relrowsecurity AND relforcerowsecurity)`,
      );
      expect(rows).toEqual([]);
    } finally {
      await client.end();
    }
  });
});
