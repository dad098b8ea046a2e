import type { Approval, Delegator, Vote } from './approval';
import type { Definition } from './definition';
import type { Objection, Situation } from './transition';

/** What is kept here about an entity. */
export interface Kept {
  state: string | undefined;
  approval: Approval | undefined;
  votes: readonly Vote[];
  delegators: readonly Delegator[];
}

/** What the owner of an entity says about it now. */
export interface OwnersWord {
  exists: boolean;
  state: string;
  objections: readonly Objection[];
}

/** Puts together what bears on an entity; where it has an owner, the owner's word on its state counts. */
export function situationOf(
  definition: Definition,
  entityId: string,
  kept: Kept,
  owner: OwnersWord | undefined,
): Situation {
  const situation = {
    definition,
    entityId,
    approval: kept.approval,
    votes: kept.votes,
    delegators: kept.delegators,
  };
  if (!owner) return { ...situation, state: kept.state ?? definition.initialState, objections: [] };
  if (owner.exists) return { ...situation, state: owner.state, objections: owner.objections };
  const missing = { targetState: '*', reason: 'There is no such entity yet.', concernsCaller: false };
  return { ...situation, state: definition.initialState, objections: [missing] };
}

/** Whether the owner moved the entity away while a request was open. */
export const isOvertaken = ({ approval, state }: Situation): boolean =>
  approval !== undefined && approval.formerState !== state;

/**
 * Whether the owner has made the very move that an open request asks for. Whoever completed the request is about to
 * write it down; if they cannot any more, the owner's fact does.
 */
export const isBeingApproved = ({ approval, state }: Situation): boolean => approval?.targetState === state;
