import { workflowEndpoints } from '@plinth/contracts/workflow/endpoints';
import type { Api } from '@plinth/http/api';
import { readPage } from '@plinth/http/read-page';
import type { Deps } from '../compose';
import { toApprovalResponse } from './approval-response';

const { getApprovals } = workflowEndpoints;

export function mountApprovals(
  api: Api,
  { approvals, pageReads, clock }: Pick<Deps, 'approvals' | 'pageReads' | 'clock'>,
): void {
  api.on(getApprovals, async ({ caller, list, signal: closed }) => {
    const read = () => approvals.waitingFor(caller, clock.now(), list);
    const { rows, totalCount, delegators } = await readPage(pageReads, caller, list, read, closed);
    return list.toPage(
      rows,
      totalCount,
      (row) => toApprovalResponse(row, caller, delegators),
      ({ approval: { requestedAt, id } }) => [requestedAt.toISOString(), id],
    );
  });
}
