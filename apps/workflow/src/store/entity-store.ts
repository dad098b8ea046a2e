import type { TransitionOutcome } from '@plinth/contracts/workflow/shapes';
import type { Writing } from '@plinth/runtime/messaging/outbox';
import { isUniqueViolation, type TenantDatabase } from '@plinth/runtime/postgres/postgres';
import { findOperation } from '@plinth/runtime/postgres/run-once';
import type { Change } from '../domain/change';
import type { EntityKey, EntitySnapshot } from '../domain/entity-snapshot';
import type { Prisma } from '../generated/client';
import { readVersions, stampOf } from './definition-versions';
import {
  commitChange,
  holdDefinition,
  readEntity,
  type CommitResult,
  type Operation,
} from './entity-statements';

export interface OperationResult {
  outcome: TransitionOutcome;
  resultingState: string;
}

/** Who reads an entity, and when. */
export interface Reader {
  userId: string;
  now: Date;
}

/** An entity, and the result of the first attempt of an operation, as they were at one instant. */
export interface ReadEntity {
  snapshot: EntitySnapshot;
  first: OperationResult | undefined;
}

/** A change that is to be written, where there is one, and the operation that it is the effect of. */
export interface ChangeToWrite {
  change?: Change | undefined;
  operation?: Operation<OperationResult> | undefined;
}

export interface EntityStore {
  /** Reads an entity and the first attempt of an operation: one that changed what was read is certainly found. */
  read(key: EntityKey, reader: Reader, operationId?: string): Promise<ReadEntity>;
  /**
   * Reads the same, lets `decide` compute a change, and writes it, all in one transaction, in which no other definition
   * begins to apply. Returns what was decided, or undefined where something else happened to the entity meanwhile: then
   * nothing is written. Where the transaction is repeated, so is the decision.
   */
  change<Decided extends ChangeToWrite>(
    key: EntityKey,
    reader: Reader,
    operationId: string | undefined,
    decide: (read: ReadEntity) => Decided,
  ): Promise<Decided | undefined>;
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
  const commit = async (
    tenantId: string,
    entityType: string,
    work: (tx: Prisma.TransactionClient) => Promise<CommitResult | 'changed' | Writing>,
  ): Promise<CommitResult | 'changed'> => {
    try {
      const committed = await db.inTenant(
        tenantId,
        async (tx) => {
          await holdDefinition(tx, tenantId, entityType);
          return work(tx);
        },
        'once',
      );
      if (typeof committed === 'string') return committed;
      return (await committed.isWritten) ? 'committed' : 'changed';
    } catch (error) {
      // Another attempt at the same operation or vote was faster.
      if (isUniqueViolation(error)) return 'changed';
      throw error;
    }
  };

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

    async change(key, reader, operationId, decide) {
      const { tenantId, entityType } = key;
      let decided: ReturnType<typeof decide> | undefined;
      const committed = await commit(tenantId, entityType, async (tx) => {
        const read = await readEntity<OperationResult>(tx, key, reader, operationId);
        decided = decide(read);
        const { change, operation } = decided;
        return change ? commitChange(tx, tenantId, read.snapshot, change, operation) : 'committed';
      });
      return committed === 'changed' ? undefined : decided;
    },

    commit: (tenantId, snapshot, change, operation) =>
      commit(tenantId, change.entityType, async (tx) => {
        const versions = await readVersions(tx, tenantId, change.entityType);
        if (stampOf(versions) !== snapshot.definitionStamp) return 'changed';
        return commitChange(tx, tenantId, snapshot, change, operation);
      }),
  };
}
