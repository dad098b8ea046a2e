import { getApprovals } from '@plinth/contracts/workflow/endpoints';
import type { Api } from '@plinth/conventions/api';
import type { Deps } from '../compose';
import { seatToAgree } from '../domain/approval';

export function mountApprovals(api: Api, { approvals, clock }: Pick<Deps, 'approvals' | 'clock'>): void {
  api.on(getApprovals, async ({ caller, list }) => {
    const { rows, totalCount, delegators } = await approvals.waitingFor(caller, clock.now(), list);
    return list.toPage(
      rows,
      totalCount,
      ({ approval, votes }) => {
        const place = seatToAgree(approval, votes, caller, delegators);
        const seat = 'seat' in place ? place.seat : caller.userId;
        return {
          id: approval.id,
          entityType: approval.entityType,
          entityId: approval.entityId,
          transitionName: approval.transitionName,
          formerState: approval.formerState,
          targetState: approval.targetState,
          requestedBy: approval.requestedBy,
          requestedByName: approval.requestedByName,
          requestedAt: approval.requestedAt,
          comment: approval.comment,
          approvalsNeeded: approval.needed,
          approvalsGiven: votes.length,
          onBehalfOf: seat === caller.userId ? null : seat,
          isEscalated: approval.isEscalated,
          expiresAt: approval.expiresAt,
        };
      },
      ({ approval: { requestedAt, id } }) => [requestedAt.toISOString(), id],
    );
  });
}
