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
import type { EventType } from '@plinth/kernel/event';
import {
  appendToOutbox,
  compareAndWrite,
  type ComparedChange,
  type NewEvent,
  type Writing,
} from '@plinth/runtime/messaging/outbox';
import type { RawStatements } from '@plinth/runtime/postgres/postgres';
import { SYSTEM_ACTOR } from '../domain/actor';
import type { Approval } from '../domain/approval';
import type { Change } from '../domain/change';

/** Writes a change, and publishes what happened to an approval, then the move at its `position` in the history. */
export const writeChange = <Found>(
  tx: RawStatements,
  tenantId: string,
  change: Change,
  position: number,
  statements: ComparedChange,
): Writing<Found> => compareAndWrite(tx, statements, ...eventsOf(tenantId, change, position));

function eventsOf(tenantId: string, change: Change, position: number): NewEvent<EventType>[] {
  const events: NewEvent<EventType>[] = [];
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
    events.push({ ...envelope, type: approvalRequested, payload });
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
    events.push({ ...envelope, type: approvalGranted, payload });
  }
  if (ended) {
    const payload = { ...approvalPayload(ended.approval), end: ended.end, endedBy: actor.userId, comment };
    events.push({ ...envelope, type: approvalEnded, payload });
  }
  if (move) {
    const transitionedAt = at.toISOString();
    const end = ended && { approvalEnd: ended.end };
    const payload = {
      entityType,
      entityId,
      ...move,
      transitionedAt,
      transitionedBy: actor.userId,
      position,
      ...end,
    };
    events.push({ ...envelope, type: transitionExecuted, payload });
  }
  return events;
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
