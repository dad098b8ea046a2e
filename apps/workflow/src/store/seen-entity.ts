import type { Approval, Delegator, Vote } from '../domain/approval';
import type { StoredDefinition } from './definition-rows';

export interface EntityKey {
  tenantId: string;
  entityType: string;
  entityId: string;
}

/** An entity as it was read, with what a change compares. */
export interface SeenEntity {
  /** Undefined where no definition applies to its type. */
  definition: StoredDefinition | undefined;
  definitionStamp: string;
  /** Undefined for one that was never moved. */
  state: string | undefined;
  revision: number;
  moves: number;
  approval: Approval | undefined;
  votes: Vote[];
  /** Those in whose place the caller may decide on the open request. */
  delegators: Delegator[];
}

/**
 * `changed`: something else happened to the entity, or another definition applies, since it was read.
 * `made-by-other`: the owner's move is written down already, as somebody else's.
 */
export type Commit = 'committed' | 'changed' | 'made-by-other';
