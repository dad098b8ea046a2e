import type { Caller } from '@plinth/kernel/caller';
import { onCommit, onRollback } from '@plinth/runtime/postgres/beside-transaction';
import { silentLog } from '@plinth/runtime/process/log';
import { aCaller } from '@plinth/testing/http';
import { Registry } from 'prom-client';
import { TransitionService } from '../src/app/transition-service';
import type { EntityStore } from '../src/store/entity-store';
import { historyQuotaOf } from '../src/store/history-quota';
import { APPROVER, aTenantWithOrders } from './a-definition';
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
    let refused = await move('Submitted');
    for (let count = 11; refused.status === 200 && count <= 21; count++)
      refused = await move((await stateOf()) === 'Draft' ? 'Submitted' : 'Draft');

    expect({ status: refused.status, body: refused.body }).toMatchObject({
      status: 429,
      body: { quota: { name: 'workflow-history', scope: 'tenant', limit: 20 } },
    });
    expect((await http.get('/workflow/Invoice/1/history')).status).toBe(200);
    expect((await move('Nowhere')).body).toMatchObject({ outcome: 'InvalidTransition' });
  });

  /** Submits an invoice, with a store and a quota of its own. */
  const submit = async (caller: Caller, entities: EntityStore, take: () => void) => {
    const { approvals, owners, clock } = service;
    const transitions = new TransitionService({
      entities,
      approvals,
      owners,
      schedule: { start: async () => undefined, end: async () => undefined },
      clock,
      quota: { take },
      commentQuota: { take: () => undefined, requireRoom: () => undefined },
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
  };

  it('counts a transition once, also where it is decided twice', async () => {
    const { entities } = service;
    const change: EntityStore['change'] = (key, reader, operation, decide) =>
      entities.change(key, reader, operation, (read) => {
        decide(read);
        return decide(read);
      });
    let taken = 0;

    await submit(aCaller(), { ...entities, change }, () => {
      taken++;
      onRollback(() => taken--);
    });

    expect(taken).toBe(1);
  });

  it('counts a transition once, also where its transaction is repeated', async () => {
    const { entities } = service;
    const change: EntityStore['change'] = async (key, reader, operation, decide) => {
      const conflict = entities.change(key, reader, operation, (read) => {
        decide(read);
        throw new Error('could not serialize access');
      });
      await conflict.catch(() => undefined);
      return entities.change(key, reader, operation, decide);
    };
    let taken = 0;

    await submit(aCaller(), { ...entities, change }, () => {
      taken++;
      onRollback(() => taken--);
    });

    expect(taken).toBe(1);
  });

  it('counts votes too, which stay where their request is withdrawn', async () => {
    const { user, move } = await aTenantWithOrders(service, {
      permission: 'Workflow.Transitions.Approve',
      mode: 'Count',
      count: 3,
    });
    const ann = user('ann');
    await move(ann, '1', 'Approved');
    for (const voter of ['bob', 'cem']) await move(user(voter, APPROVER), '1', 'Approved');
    const hasRoomOf = async (limit: number) => {
      const quota = historyQuotaOf({ db: service.db, log: silentLog(), metrics: new Registry(), limit });
      await quota.whenKnown(ann.tenantId, limit + 1);
      return quota.hasRoom(ann.tenantId, 1);
    };
    // The request and two votes.
    expect([await hasRoomOf(3), await hasRoomOf(4)]).toEqual([false, true]);
  });

  it('takes the room of a transition for that of a written one only when it is written', async () => {
    const { entities } = service;
    const caller = aCaller();
    // So that it is decided by what the process remembers, before any transaction.
    await service.as(caller).get('/workflow/Invoice/2/transitions');
    const steps: string[] = [];
    const commit: EntityStore['commit'] = async (...of) => {
      const committed = await entities.commit(...of);
      steps.push(committed.outcome);
      return committed;
    };

    await submit(caller, { ...entities, commit }, () => onCommit(() => steps.push('written')));

    expect(steps).toEqual(['committed', 'written']);
  });
});
