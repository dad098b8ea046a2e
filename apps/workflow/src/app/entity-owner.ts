import type { Caller } from '@plinth/kernel/caller';
import type { OwnerState } from '../domain/owner-state';

export interface OwnerMove {
  entityType: string;
  entityId: string;
  from: string;
  to: string;
  moveId: string;
  comment: string | null;
  /** That was approved; null where any may be moved. */
  version: string | null;
  /** After which it is not made any more; null where it may be made at any time. */
  notAfter: Date | null;
}

export interface OwnerMoveResult {
  outcome: 'MOVED' | 'STATE_CHANGED' | 'DENIED' | 'VERSION_CHANGED';
  state: string;
  /** Who made the move: of several callers who complete one request, the first. */
  movedBy: string;
}

/** The service that owns the state of entities of one type. */
export interface EntityOwner {
  describe(caller: Caller, entity: { entityType: string; entityId: string }): Promise<OwnerState>;
  apply(caller: Caller, move: OwnerMove): Promise<OwnerMoveResult>;
}

/** The owners by entity type. */
export type EntityOwners = ReadonlyMap<string, EntityOwner>;
