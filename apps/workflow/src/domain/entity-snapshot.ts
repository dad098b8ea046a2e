import type { Approval, Delegator, Vote } from './approval';
import type { DefinitionVersion } from './definition';

export interface EntityKey {
  tenantId: string;
  entityType: string;
  entityId: string;
}

/** An entity as it was read, with what a change compares. */
export interface EntitySnapshot {
  /** Undefined where no definition applies to its type. */
  definition: DefinitionVersion | undefined;
  definitionStamp: string;
  /** Undefined for one that was never moved. */
  state: string | undefined;
  revision: number;
  moves: number;
  approval: Approval | undefined;
  /** Until when the owner may be making the move that the open request asks for; null where nobody had it made. */
  movingUntil: Date | null;
  votes: readonly Vote[];
  /** The users in whose place the caller may decide on the open request. */
  delegators: readonly Delegator[];
}

/** Whether the owner may be making the move of the open request, which nothing but that move ends meanwhile. */
export const isBeingMoved = ({ movingUntil }: Pick<EntitySnapshot, 'movingUntil'>, now: Date): boolean =>
  movingUntil !== null && movingUntil > now;
