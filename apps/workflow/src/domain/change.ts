import {
  approvalEnded,
  approvalGranted,
  approvalRequested,
  transitionExecuted,
  type ApprovalEnd,
} from '@plinth/contracts/workflow/events';
import { PENDING_APPROVAL } from '@plinth/contracts/workflow/shapes';
import type { EventType, PayloadOf } from '@plinth/kernel/event';
import type { Approval } from './approval';
import type { Effect } from './transition';

/** Who did it, as history and facts name them. */
export interface Actor {
  userId: string;
  userName: string;
}

/** Who ends what time ends. */
export const SYSTEM: Actor = { userId: 'system', userName: 'System' };

/** One row of an entity's history, without its position. */
export interface Move {
  transitionName: string;
  previousState: string;
  newState: string;
  comment: string | null;
}

/** A fact to tell, without its tenant. */
export interface Fact<E extends EventType = EventType> {
  type: E;
  payload: PayloadOf<E>;
}

/** Everything that one effect changes about an entity; it happens whole or not at all. */
export interface Change {
  entityType: string;
  entityId: string;
  /** The state from now on, without regard to an open request. */
  state: string;
  /** The open request from now on. */
  approvalId: string | null;
  move?: Move;
  /** The move as its owner made it. */
  ownerMoveId?: string;
  opened?: Approval;
  vote?: { approvalId: string; seat: string };
  ended?: { approval: Approval; end: ApprovalEnd };
  facts: Fact[];
  actor: Actor;
  comment: string | null;
  at: Date;
}

/** What somebody, or time, does to an entity. */
export type Happening =
  | Effect
  | { kind: 'expire'; approval: Approval }
  /** The owner moved it while a request was open; the owner's move comes after. */
  | { kind: 'overtake'; approval: Approval };

interface Circumstances {
  entityType: string;
  entityId: string;
  actor: Actor;
  comment: string | null;
  at: Date;
}

/** What is to be written for a happening. */
export function changeOf(happening: Happening, circumstances: Circumstances): Change {
  switch (happening.kind) {
    case 'move': {
      const { from, to, transitionName } = happening;
      return {
        ...circumstances,
        state: to,
        approvalId: null,
        move: { transitionName, previousState: from, newState: to, comment: circumstances.comment },
        facts: [],
      };
    }
    case 'request':
      return requested(happening.approval, circumstances);
    case 'agree':
      return agreed(happening, circumstances);
    case 'approve': {
      const { approval, seat } = happening;
      const change = ended(approval, 'Approved', approval.targetState, circumstances);
      return { ...change, vote: { approvalId: approval.id, seat } };
    }
    case 'deny':
      return ended(happening.approval, 'Denied', happening.approval.formerState, circumstances);
    case 'withdraw':
      return ended(happening.approval, 'Withdrawn', happening.approval.formerState, circumstances);
    case 'expire':
      return ended(happening.approval, 'Expired', happening.approval.formerState, circumstances);
    case 'overtake':
      return ended(happening.approval, 'Overtaken', happening.approval.formerState, circumstances);
  }
}

function requested(approval: Approval, circumstances: Circumstances): Change {
  const { transitionName, formerState, comment, approverUsers, approverPermission, expiresAt } = approval;
  const payload = {
    ...aboutApproval(approval),
    comment,
    approverUsers: [...approverUsers],
    approverPermission,
    expiresAt: expiresAt?.toISOString() ?? null,
  };
  return {
    ...circumstances,
    state: formerState,
    approvalId: approval.id,
    move: { transitionName, previousState: formerState, newState: PENDING_APPROVAL, comment },
    opened: approval,
    facts: [{ type: approvalRequested, payload }],
  };
}

function agreed(
  { approval, seat, given }: Extract<Effect, { kind: 'agree' }>,
  circumstances: Circumstances,
): Change {
  const { actor, comment } = circumstances;
  const payload = {
    ...aboutApproval(approval),
    comment,
    grantedBy: actor.userId,
    onBehalfOf: seat === actor.userId ? null : seat,
    approvalsNeeded: approval.needed,
    approvalsGiven: given,
  };
  return {
    ...circumstances,
    state: approval.formerState,
    approvalId: approval.id,
    vote: { approvalId: approval.id, seat },
    facts: [{ type: approvalGranted, payload }],
  };
}

function ended(approval: Approval, end: ApprovalEnd, state: string, circumstances: Circumstances): Change {
  const { actor, comment } = circumstances;
  const { transitionName } = approval;
  const payload = { ...aboutApproval(approval), end, endedBy: actor.userId, comment };
  return {
    ...circumstances,
    state,
    approvalId: null,
    move: { transitionName, previousState: PENDING_APPROVAL, newState: state, comment },
    ended: { approval, end },
    facts: [{ type: approvalEnded, payload }],
  };
}

/** What facts say about a request. */
export const aboutApproval = (approval: Approval) => ({
  entityType: approval.entityType,
  entityId: approval.entityId,
  approvalId: approval.id,
  transitionName: approval.transitionName,
  formerState: approval.formerState,
  targetState: approval.targetState,
  requestedBy: approval.requestedBy,
});

/** The fact of a move that has its place in the history. */
export const factOfMove = (
  change: Change,
  move: Move,
  position: number,
): Fact<typeof transitionExecuted> => ({
  type: transitionExecuted,
  payload: {
    entityType: change.entityType,
    entityId: change.entityId,
    ...move,
    transitionedAt: change.at.toISOString(),
    transitionedBy: change.actor.userId,
    position,
  },
});
