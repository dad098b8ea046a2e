import { seatToAgree, type Delegator, type Person } from '../domain/approval';
import type { WaitingApproval } from '../store/approval-store';

/** An approval as the caller who may decide on it sees it. */
export function toApprovalResponse(
  { approval, votes }: WaitingApproval,
  caller: Person,
  delegators: readonly Delegator[],
) {
  const decision = seatToAgree(approval, votes, caller, delegators);
  const seat = 'seat' in decision ? decision.seat : caller.userId;
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
}
