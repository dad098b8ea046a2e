import type { ApprovalEnd } from '@plinth/contracts/workflow/events';
import { PENDING_APPROVAL } from '@plinth/contracts/workflow/shapes';
import type { Actor } from './actor';
import type { Approval } from './approval';
import type { Effect } from './transition';

/** One row of an entity's history, without its position. */
export interface Move {
  transitionName: string;
  previousState: string;
  newState: string;
  comment: string | null;
}

/** Everything that one event changes about an entity; it is written whole or not at all. */
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
  /** Where its event stands among those of the owner, where that is known. */
  ownerSequence?: number;
  opened?: Approval;
  /** From when on the owner is asked whether it has the entity of the opened request still. */
  verifyAt?: Date;
  /** `given` counts the votes with this one. */
  vote?: { approval: Approval; seat: string; given: number };
  ended?: { approval: Approval; end: ApprovalEnd };
  actor: Actor;
  comment: string | null;
  at: Date;
}

/** What a caller, time or the owner does to an entity. */
export type TransitionEvent =
  | Effect
  | { kind: 'expire'; approval: Approval }
  /** The owner moved it while a request was open, and the owner's move comes after; or it was changed. */
  | { kind: 'overtake'; approval: Approval; isMoved: boolean };

/** Which entity an event is about, who caused it and when. */
export interface ChangeContext {
  entityType: string;
  entityId: string;
  actor: Actor;
  comment: string | null;
  at: Date;
}

/** The rows in which the comment of whoever causes an event is written. */
export function rowsWithComment({ kind }: TransitionEvent): ('move' | 'approval' | 'approval_vote')[] {
  if (kind === 'agree') return ['approval_vote'];
  if (kind === 'request') return ['move', 'approval'];
  return kind === 'approve' ? ['move', 'approval_vote'] : ['move'];
}

/** What is to be written for an event. */
export function changeOf(event: TransitionEvent, context: ChangeContext): Change {
  switch (event.kind) {
    case 'move': {
      const { from, to, transitionName } = event;
      const move = { transitionName, previousState: from, newState: to, comment: context.comment };
      return { ...context, state: to, approvalId: null, move };
    }
    case 'request':
      return requested(event.approval, context);
    case 'agree': {
      const { approval, seat, given } = event;
      const { id, formerState } = approval;
      return { ...context, state: formerState, approvalId: id, vote: { approval, seat, given } };
    }
    case 'approve': {
      const { approval, seat } = event;
      const change = ended(approval, 'Approved', approval.targetState, context);
      return { ...change, vote: { approval, seat, given: approval.needed } };
    }
    case 'deny':
      return ended(event.approval, 'Denied', event.approval.formerState, context);
    case 'withdraw':
      return ended(event.approval, 'Withdrawn', event.approval.formerState, context);
    case 'expire':
      return ended(event.approval, 'Expired', event.approval.formerState, context);
    case 'overtake':
      return ended(event.approval, 'Overtaken', event.approval.formerState, context);
  }
}

function requested(approval: Approval, context: ChangeContext): Change {
  const { id, transitionName, formerState, comment } = approval;
  const move = { transitionName, previousState: formerState, newState: PENDING_APPROVAL, comment };
  return { ...context, state: formerState, approvalId: id, move, opened: approval };
}

function ended(approval: Approval, end: ApprovalEnd, state: string, context: ChangeContext): Change {
  const { transitionName } = approval;
  const move = { transitionName, previousState: PENDING_APPROVAL, newState: state, comment: context.comment };
  return { ...context, state, approvalId: null, move, ended: { approval, end } };
}
