import type { TransitionOutcome } from '@plinth/contracts/workflow/shapes';
import { isUniqueViolation, type TenantDatabase } from '@plinth/runtime/postgres/postgres';
import { findOperation } from '@plinth/runtime/postgres/run-once';
import type { Change } from '../domain/change';
import type { EntityKey, EntitySnapshot } from '../domain/entity-snapshot';
import type { Prisma } from '../generated/client';
import {
  commitChange,
  EntityChanged,
  readEntity,
  type CommitResult,
  type Operation,
} from './entity-statements';

export interface OperationResult {
  outcome: TransitionOutcome;
  resultingState: string;
}

export interface EntityStore {
  /**
   * Reads an entity and the result of the first attempt of an operation as they were at one instant: an attempt that
   * changed what was read is certainly found.
   */
  read(
    key: EntityKey,
    reader: { userId: string; now: Date },
    operationId?: string,
  ): Promise<{ snapshot: EntitySnapshot; first: OperationResult | undefined }>;
  /**
   * The result of the first attempt of an operation on an entity with an owner. `ownerMoveId` is the move that it would
   * have had the owner make, which counts also where the owner's response was lost.
   */
  findOperation(
    tenantId: string,
    operationId: string,
    ownerMoveId: string,
  ): Promise<OperationResult | undefined>;
  /**
   * Writes a change if the entity is still as it was read: state, history, approval, events and operation at once.
   * `changed`: something else happened to the entity, or another definition applies, since it was read.
   */
  commit(
    tenantId: string,
    snapshot: EntitySnapshot,
    change: Change,
    operation?: Operation<OperationResult>,
  ): Promise<CommitResult | 'changed'>;
}

/** Every transition of every entity goes through here, so its statements are written by hand. */
export function entityStore(db: TenantDatabase<Prisma.TransactionClient>): EntityStore {
  return {
    read: (key, reader, operationId) =>
      db.inTenant(key.tenantId, (tx) => readEntity<OperationResult>(tx, key, reader, operationId), 'once'),

    findOperation: (tenantId, operationId, ownerMoveId) =>
      db.inTenant(
        tenantId,
        async (tx) => {
          const done = await findOperation<OperationResult>(tx, { tenantId, operationId });
          if (done) return done.result;
          const made = await tx.move.findUnique({
            where: { tenantId_ownerMoveId: { tenantId, ownerMoveId } },
          });
          return made ? { outcome: 'Completed', resultingState: made.newState } : undefined;
        },
        'once',
      ),

    async commit(tenantId, snapshot, change, operation) {
      try {
        return await db.inTenant(
          tenantId,
          (tx) => commitChange(tx, tenantId, snapshot, change, operation),
          'once',
        );
      } catch (error) {
        // Another attempt at the same operation or vote was faster.
        if (error instanceof EntityChanged || isUniqueViolation(error)) return 'changed';
        throw error;
      }
    },
  };
}
