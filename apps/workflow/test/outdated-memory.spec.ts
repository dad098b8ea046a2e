import type { Caller } from '@plinth/kernel/caller';
import { newId } from '@plinth/kernel/uuid';
import { aCaller } from '@plinth/testing/http';
import { orderDefinition } from './a-definition';
import { withTwoWorkflows, type Workflow } from './start-workflow';

/** Each move below is one that the second replica would make otherwise by what it saw last. */
describe('a replica that saw an entity before another one moved it', () => {
  const workflows = withTwoWorkflows();

  const lookAt = (service: Workflow, caller: Caller, entity: string) =>
    service.as(caller).get(`/workflow/${entity}/transitions`);
  const move = async (service: Workflow, caller: Caller, entity: string, targetState: string) => {
    const { body } = await service.as(caller).post(`/workflow/${entity}/transition`, { targetState });
    return `${body.outcome} ${body.resultingState}`;
  };
  const historyOf = async (caller: Caller, entity: string): Promise<string[]> => {
    const { body } = await workflows.first.as(caller).get(`/workflow/${entity}/history`);
    return body.items.map(
      (one: { previousState: string; newState: string }) => `${one.previousState} ${one.newState}`,
    );
  };

  it('moves it from where it is', async () => {
    const caller = aCaller();
    await lookAt(workflows.second, caller, 'Invoice/1');
    await move(workflows.first, caller, 'Invoice/1', 'Submitted');

    expect(await move(workflows.second, caller, 'Invoice/1', 'Cancelled')).toBe('Completed Cancelled');
    expect(await historyOf(caller, 'Invoice/1')).toEqual(['Submitted Cancelled', 'Draft Submitted']);
  });

  it('refuses what is not possible from there', async () => {
    const caller = aCaller();
    await lookAt(workflows.second, caller, 'Invoice/1');
    await move(workflows.first, caller, 'Invoice/1', 'Submitted');

    expect(await move(workflows.second, caller, 'Invoice/1', 'Submitted')).toBe(
      'InvalidTransition Submitted',
    );
    expect(await historyOf(caller, 'Invoice/1')).toEqual(['Draft Submitted']);
  });

  it('takes a later request for one that gives the approval that another user requested', async () => {
    const caller = aCaller();
    const other = aCaller({ tenantId: caller.tenantId });
    await workflows.second.as(caller).put('/workflow/definitions/Order', orderDefinition());
    await lookAt(workflows.second, caller, 'Order/1');
    expect(await move(workflows.first, other, 'Order/1', 'Approved')).toBe(
      'ApprovalRequested PendingApproval',
    );

    expect(await move(workflows.second, caller, 'Order/1', 'Approved')).toBe('Completed Approved');
    expect(await historyOf(caller, 'Order/1')).toEqual(['PendingApproval Approved', 'Draft PendingApproval']);
  });

  it('decides by the definition that applies now', async () => {
    const caller = aCaller();
    await lookAt(workflows.second, caller, 'Invoice/1');
    await workflows.first.as(caller).put('/workflow/definitions/Invoice', {
      initialState: 'Draft',
      transitions: [{ name: 'Approve', from: 'Draft', to: 'Approved' }],
    });

    expect(await move(workflows.second, caller, 'Invoice/1', 'Submitted')).toBe('InvalidTransition Draft');
    expect(await move(workflows.second, caller, 'Invoice/1', 'Approved')).toBe('Completed Approved');
  });

  it('decides by the definition that the database has after a failover that lost the one it knows', async () => {
    const caller = aCaller();
    const save = (to: string) =>
      workflows.first.as(caller).put('/workflow/definitions/Invoice', {
        initialState: 'Draft',
        transitions: [{ name: 'Go', from: 'Draft', to }],
      });
    await save('Submitted');
    await lookAt(workflows.second, caller, 'Invoice/1');
    await workflows.first.db.inTenant(caller.tenantId, (tx) => tx.$executeRaw`DELETE FROM definition`);
    await save('Approved');

    expect(await move(workflows.second, caller, 'Invoice/1', 'Submitted')).toBe('InvalidTransition Draft');
    expect(await move(workflows.second, caller, 'Invoice/1', 'Approved')).toBe('Completed Approved');
  });

  it('moves it from where it is after a failover that lost the move it knows', async () => {
    const caller = aCaller();
    await move(workflows.second, caller, 'Invoice/1', 'Submitted');
    await workflows.first.db.inTenant(caller.tenantId, async (tx) => {
      await tx.$executeRaw`DELETE FROM move`;
      await tx.$executeRaw`DELETE FROM entity`;
    });
    await move(workflows.first, caller, 'Invoice/1', 'Cancelled');

    expect(await move(workflows.second, caller, 'Invoice/1', 'Draft')).toBe('InvalidTransition Cancelled');
    expect(await historyOf(caller, 'Invoice/1')).toEqual(['Draft Cancelled']);
  });

  it('executes an operation once that another one has executed', async () => {
    const caller = aCaller({ operationId: newId() });
    await lookAt(workflows.second, caller, 'Invoice/1');
    expect(await move(workflows.first, caller, 'Invoice/1', 'Submitted')).toBe('Completed Submitted');
    await move(workflows.first, { ...caller, operationId: undefined }, 'Invoice/1', 'Draft');
    await lookAt(workflows.second, caller, 'Invoice/1');

    expect(await move(workflows.second, caller, 'Invoice/1', 'Submitted')).toBe('Completed Submitted');
    expect(await historyOf(caller, 'Invoice/1')).toEqual(['Submitted Draft', 'Draft Submitted']);
  });
});
