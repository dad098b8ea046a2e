import { workflowEndpoints } from '@plinth/contracts/workflow/endpoints';
import type { Api } from '@plinth/http/api';
import type { Deps } from '../compose';
import { toApprovalResponse } from './approval-response';

const { getApprovals } = workflowEndpoints;

export function mountApprovals(api: Api, { approvals, clock }: Pick<Deps, 'approvals' | 'clock'>): void {
  api.on(getApprovals, async ({ caller, list }) => {
    const { rows, totalCount, delegators } = await approvals.waitingFor(caller, clock.now(), list);
    return list.toPage(
      rows,
      totalCount,
      (row) => toApprovalResponse(row, caller, delegators),
      ({ approval: { requestedAt, id } }) => [requestedAt.toISOString(), id],
    );
  });
}
