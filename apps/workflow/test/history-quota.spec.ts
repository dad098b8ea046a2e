import { aCaller } from '@plinth/testing/http';
import { TransitionService } from '../src/app/transition-service';
import type { EntityStore } from '../src/store/entity-store';
import { startWorkflow, type Workflow } from './start-workflow';

describe('the quota of history', () => {
  let service: Workflow;
  beforeAll(async () => {
    service = await startWorkflow({ environment: { WORKFLOW_TENANT_MOVES_MAX: '20' } });
  });
  afterAll(() => service.close());

  // What is written while rows are counted may count twice, and the first one not at all.
  it('refuses transitions beyond it, and says which it is; what is there can be read', async () => {
    const http = service.as(aCaller());
    const move = (targetState: string) => http.post('/workflow/Invoice/1/transition', { targetState });
    const stateOf = async () => (await http.get('/workflow/Invoice/1/transitions')).body.currentState;
    for (let count = 0; count < 5; count++)
      for (const state of ['Submitted', 'Draft'])
        expect((await move(state)).body).toMatchObject({ outcome: 'Completed' });
    for (let count = 0; count < 6; count++) for (const state of ['Submitted', 'Draft']) await move(state);
    const refused = await move((await stateOf()) === 'Draft' ? 'Submitted' : 'Draft');

    expect({ status: refused.status, body: refused.body }).toMatchObject({
      status: 429,
      body: { quota: { name: 'workflow-history', scope: 'tenant', limit: 20 } },
    });
    expect((await http.get('/workflow/Invoice/1/history')).status).toBe(200);
    expect((await move('Nowhere')).body).toMatchObject({ outcome: 'InvalidTransition' });
  });

  it('counts a transition once, also where its transaction is repeated', async () => {
    const { entities, approvals, owners, clock } = service;
    const repeating: EntityStore = {
      ...entities,
      change: (key, reader, operationId, decide) =>
        entities.change(key, reader, operationId, (read) => {
          decide(read);
          return decide(read);
        }),
    };
    const taken: string[] = [];
    const caller = aCaller();
    const transitions = new TransitionService({
      entities: repeating,
      approvals,
      owners,
      schedule: { start: async () => undefined, end: async () => undefined },
      clock,
      quota: { take: (tenantId) => void taken.push(tenantId) },
      approverQuota: { take: () => undefined, requireRoom: () => undefined },
    });

    const command = {
      entityType: 'Invoice',
      entityId: '2',
      targetState: 'Submitted',
      comment: null,
      approvalId: null,
      operationId: undefined,
    };
    expect(await transitions.execute(caller, command)).toMatchObject({ outcome: 'Completed' });

    expect(taken).toEqual([caller.tenantId]);
  });
});
