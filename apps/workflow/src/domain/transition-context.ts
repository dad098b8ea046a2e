import { PENDING_APPROVAL } from '@plinth/contracts/workflow/shapes';
import type { Approval, Delegator, Person, Vote } from './approval';
import type { Definition } from './definition';
import { isBeingMoved, type EntitySnapshot } from './entity-snapshot';
import type { Objection, OwnerState } from './owner-state';

/** Everything a decision about a transition depends on. */
export interface TransitionContext {
  definition: Definition;
  entityId: string;
  /** Whether its owner has it; always where there is none. */
  exists: boolean;
  /** The state without regard to an open request. */
  state: string;
  approval: Approval | undefined;
  /** Until when the owner may be making the move that the open request asks for; null where nobody had it made. */
  movingUntil: Date | null;
  votes: readonly Vote[];
  /** The users in whose place the caller may decide. */
  delegators: readonly Delegator[];
  objections: readonly Objection[];
  /** As the owner names it; null where there is none. */
  entityVersion: string | null;
  caller: Person;
  now: Date;
  /** For the request for approval that the decision may open. */
  approvalId: string;
}

/** Combines the snapshot of an entity with the state its owner reports, which is decisive where there is an owner. */
export function transitionContextOf(
  definition: Definition,
  entityId: string,
  snapshot: Pick<EntitySnapshot, 'state' | 'approval' | 'movingUntil' | 'votes' | 'delegators'>,
  owner: OwnerState | undefined,
  request: Pick<TransitionContext, 'caller' | 'now' | 'approvalId'>,
): TransitionContext {
  const { approval, movingUntil, votes, delegators } = snapshot;
  const exists = owner?.exists ?? true;
  const context = { definition, entityId, exists, approval, movingUntil, votes, delegators, ...request };
  const { initialState } = definition;
  if (!owner)
    return { ...context, state: snapshot.state ?? initialState, objections: [], entityVersion: null };
  const { state, objections, version: entityVersion } = owner;
  if (exists) return { ...context, state, objections, entityVersion };
  const missing = { targetState: '*', reason: 'There is no such entity yet.', concernsCaller: false };
  return { ...context, state: initialState, objections: [missing], entityVersion: null };
}

/** The state that callers are shown. */
export const currentStateOf = ({ state, approval }: Pick<TransitionContext, 'state' | 'approval'>): string =>
  approval ? PENDING_APPROVAL : state;

/**
 * Whether the owner moved the entity away while a request was open, or has it no more, or it is not any more what the
 * request is for.
 */
export const isOvertaken = (context: TransitionContext): boolean =>
  context.approval !== undefined &&
  (!context.exists || context.approval.formerState !== context.state || isOtherVersion(context));

/** An owner that names no version, or did not when the request was made, does not bind it. */
export const isOtherVersion = ({
  approval,
  entityVersion,
}: Pick<TransitionContext, 'approval' | 'entityVersion'>): boolean =>
  entityVersion !== null && approval?.entityVersion != null && approval.entityVersion !== entityVersion;

/**
 * Whether the owner has made the very move that an open request asks for. The caller who completed the request is about
 * to record it; if their process ends before, the owner's event gets it recorded. Without anybody who completed it, the
 * entity came to that state otherwise, as where it was deleted and made again; and so it did where it is something else
 * when no such move is still to come.
 */
export const isBeingApproved = (context: TransitionContext): boolean => {
  const { exists, approval, state, movingUntil, now } = context;
  if (!exists || movingUntil === null || approval?.targetState !== state) return false;
  return isBeingMoved(context, now) || !isOtherVersion(context);
};
