import {
  approvalEnded,
  approvalEscalated,
  approvalGranted,
  approvalReminded,
  approvalRequested,
  definitionChanged,
  transitionExecuted,
} from '@plinth/contracts/workflow/events';
import type { Caller } from '@plinth/kernel/caller';
import { appendToOutbox } from '@plinth/runtime/messaging/outbox';
import type { RawStatements } from '@plinth/runtime/postgres/postgres';
import { SYSTEM_ACTOR } from '../domain/actor';
import type { Approval } from '../domain/approval';
import type { Change } from '../domain/change';

/** Publishes what happened to an approval, then the move at its `position` in the history. */
export async function publishChange(
  tx: RawStatements,
  tenantId: string,
  change: Change,
  position: number,
): Promise<void> {
  const { entityType, entityId, actor, comment, at, opened, vote, ended, move } = change;
  const envelope = { tenantId, subject: `${entityType}/${entityId}`, actor };
  if (opened) {
    const payload = {
      ...approvalPayload(opened),
      comment: opened.comment,
      approverUsers: [...opened.approverUsers],
      approverPermission: opened.approverPermission,
      expiresAt: opened.expiresAt?.toISOString() ?? null,
    };
    await appendToOutbox(tx, { ...envelope, type: approvalRequested, payload });
  }
  if (vote && !ended) {
    const payload = {
      ...approvalPayload(vote.approval),
      comment,
      grantedBy: actor.userId,
      onBehalfOf: vote.seat === actor.userId ? null : vote.seat,
      approvalsNeeded: vote.approval.needed,
      approvalsGiven: vote.given,
    };
    await appendToOutbox(tx, { ...envelope, type: approvalGranted, payload });
  }
  if (ended) {
    const payload = { ...approvalPayload(ended.approval), end: ended.end, endedBy: actor.userId, comment };
    await appendToOutbox(tx, { ...envelope, type: approvalEnded, payload });
  }
  if (move) {
    const transitionedAt = at.toISOString();
    const payload = { entityType, entityId, ...move, transitionedAt, transitionedBy: actor.userId, position };
    await appendToOutbox(tx, { ...envelope, type: transitionExecuted, payload });
  }
}

export const publishApprovalReminded = (
  tx: RawStatements,
  tenantId: string,
  approval: Approval,
): Promise<void> => {
  const { approverUsers, approverPermission } = approval;
  return appendToOutbox(tx, {
    ...systemEnvelope(tenantId, approval),
    type: approvalReminded,
    payload: { ...approvalPayload(approval), approverUsers: [...approverUsers], approverPermission },
  });
};

/** Names the users and the permission to whose holders the approval escalates. */
export const publishApprovalEscalated = (
  tx: RawStatements,
  tenantId: string,
  approval: Approval,
): Promise<void> => {
  const { escalateUsers, escalatePermission } = approval;
  return appendToOutbox(tx, {
    ...systemEnvelope(tenantId, approval),
    type: approvalEscalated,
    payload: {
      ...approvalPayload(approval),
      approverUsers: [...escalateUsers],
      approverPermission: escalatePermission,
    },
  });
};

export const publishDefinitionChanged = (
  tx: RawStatements,
  { tenantId, userId, userName }: Caller,
  { entityType, version }: { entityType: string; version: number },
  withdrawn: boolean,
): Promise<void> =>
  appendToOutbox(tx, {
    type: definitionChanged,
    tenantId,
    subject: entityType,
    payload: { entityType, version, withdrawn },
    actor: { userId, userName },
  });

const systemEnvelope = (tenantId: string, { entityType, entityId }: Approval) => ({
  tenantId,
  subject: `${entityType}/${entityId}`,
  actor: SYSTEM_ACTOR,
});

/** What every event about an approval names. */
const approvalPayload = (approval: Approval) => ({
  entityType: approval.entityType,
  entityId: approval.entityId,
  approvalId: approval.id,
  transitionName: approval.transitionName,
  formerState: approval.formerState,
  targetState: approval.targetState,
  requestedBy: approval.requestedBy,
});
