import { newId } from '@plinth/kernel/uuid';
import type { Caller } from '@plinth/kernel/caller';
import { aCaller } from '@plinth/testing/http';
import type { Workflow } from './start-workflow';

/** All that a user of workflows needs, without approving. */
export const USER = ['Workflow.Transitions.Read', 'Workflow.Transitions.Execute', 'Workflow.History.Read'];
export const APPROVER = [...USER, 'Workflow.Transitions.Approve'];

export interface OrderApprovers {
  permission?: string;
  users?: string[];
  mode?: 'Any' | 'All' | 'Count';
  count?: number;
}

/** A definition whose transition from Draft to Approved needs approval. */
export const orderDefinition = (approvers?: OrderApprovers, timers?: object) => ({
  initialState: 'Draft',
  transitions: [
    { name: 'Approve', from: 'Draft', to: 'Approved', requiresApproval: true, approvers, timers },
    { name: 'Cancel', from: 'Draft', to: 'Cancelled' },
  ],
});

/** A tenant with users and a definition of its own for `Order`. */
export async function aTenantWithOrders(service: Workflow, approvers?: OrderApprovers, timers?: object) {
  const tenantId = newId();
  const user = (userId: string, permissions: string[] = USER): Caller =>
    aCaller({ tenantId, userId, userName: userId, permissions });
  const admin = service.as(aCaller({ tenantId, userId: 'admin' }));
  const saved = await admin.put('/workflow/definitions/Order', orderDefinition(approvers, timers));
  if (saved.status !== 201) throw new Error(saved.text);

  const move = (caller: Caller, entityId: string, targetState: string, comment?: string) =>
    service
      .as(caller)
      .post(`/workflow/Order/${entityId}/transition`, { targetState, comment })
      .then(({ body }) => `${body.outcome} ${body.resultingState}`);
  const openApprovals = async (caller: Caller) =>
    (await service.as(caller).get('/workflow/approvals')).body.items as {
      id: string;
      entityId: string;
      onBehalfOf: string | null;
    }[];
  const options = async (caller: Caller, entityId: string) =>
    (await service.as(caller).get(`/workflow/Order/${entityId}/transitions`)).body;
  const history = async (entityId: string) =>
    (await admin.get(`/workflow/Order/${entityId}/history`)).body.items as {
      previousState: string;
      newState: string;
      transitionedBy: string;
      comment: string | null;
    }[];
  return { tenantId, admin, user, move, openApprovals, options, history };
}
