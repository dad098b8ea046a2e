import type { TransitionOutcome } from '@plinth/contracts/workflow/shapes';
import type { Writing } from '@plinth/runtime/messaging/outbox';
import { isUniqueViolation, type TenantDatabase } from '@plinth/runtime/postgres/postgres';
import { findOperation } from '@plinth/runtime/postgres/run-once';
import type { Change } from '../domain/change';
import type { EntityKey, EntitySnapshot } from '../domain/entity-snapshot';
import type { Prisma } from '../generated/client';
import { isStampOf } from './definition-versions';
import { EntityMemory } from './entity-memory';
import {
  commitChange,
  holdDefinition,
  holdDefinitionAndCountMoves,
  readEntity,
  type CommitResult,
  type Operation,
  type OperationName,
} from './entity-statements';
import { KnownDefinitions } from './known-definitions';

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

/** What became of a change that was to be written. */
export interface Commit {
  /** `changed`: something else happened to the entity, or another definition applies, since it was read. */
  outcome: CommitResult | 'changed';
  /** How many moves the entity had before; not known where another attempt at the same operation was faster. */
  movesBefore?: number;
}

export interface EntityStore {
  /** Reads an entity and the first attempt of an operation: one that changed what was read is certainly found. */
  read(key: EntityKey, reader: Reader, operation?: OperationName): Promise<ReadEntity>;
  /** The entity as this process last saw it, for `commit`, which compares it; undefined where it is to be read. */
  recall(key: EntityKey): EntitySnapshot | undefined;
  /**
   * Reads the same, lets `decide` compute a change, and writes it, all in one transaction, in which no other definition
   * begins to apply. Returns what was decided, or undefined where something else happened to the entity meanwhile: then
   * nothing is written. Where the transaction is repeated, so is the decision.
   */
  change<Decided extends ChangeToWrite>(
    key: EntityKey,
    reader: Reader,
    operation: OperationName,
    decide: (read: ReadEntity) => Decided,
  ): Promise<Decided | undefined>;
  /**
   * The result of the first attempt of an operation on an entity with an owner. `ownerMoveId` is the move that it would
   * have had the owner make, which counts also where the owner's response was lost.
   */
  findOperation(
    tenantId: string,
    operation: OperationName,
    ownerMoveId: string,
  ): Promise<OperationResult | undefined>;
  /** Writes a change if the entity is still as it was seen: state, history, approval, events and operation at once. */
  commit(
    tenantId: string,
    snapshot: EntitySnapshot,
    change: Change,
    operation?: Operation<OperationResult>,
  ): Promise<Commit>;
}

/** Every transition of every entity goes through here, so its statements are written by hand. */
export function entityStore(db: TenantDatabase<Prisma.TransactionClient>): EntityStore {
  const known = new KnownDefinitions();
  const memory = new EntityMemory(known);
  const rememberRead = (key: EntityKey, { snapshot }: ReadEntity): void =>
    memory.remember(key, { ...snapshot, isWaiting: snapshot.approval !== undefined });
  const rememberWritten = (tenantId: string, snapshot: EntitySnapshot, change: Change): void => {
    const { entityType, entityId, state, approvalId, move } = change;
    const moves = snapshot.moves + (move ? 1 : 0);
    const revision = snapshot.revision + 1;
    const isWaiting = approvalId !== null;
    memory.remember({ tenantId, entityType, entityId }, { state, revision, moves, isWaiting });
  };

  /** Undefined where another attempt at the same operation or vote was faster. */
  const inTenant = async <Result>(
    tenantId: string,
    work: (tx: Prisma.TransactionClient) => Promise<Result>,
  ): Promise<Result | undefined> => {
    try {
      return await db.inTenant(tenantId, work, 'once');
    } catch (error) {
      if (isUniqueViolation(error)) return undefined;
      throw error;
    }
  };

  return {
    async read(key, reader, operation) {
      const read = await db.inTenant(
        key.tenantId,
        (tx) => readEntity<OperationResult>(tx, key, reader, known, operation),
        'once',
      );
      rememberRead(key, read);
      return read;
    },

    recall: (key) => memory.recall(key),

    findOperation: (tenantId, operation, ownerMoveId) =>
      db.inTenant(
        tenantId,
        async (tx) => {
          const done = await findOperation<OperationResult>(tx, { ...operation, tenantId });
          if (done) return done.result;
          const made = await tx.move.findUnique({
            where: { tenantId_ownerMoveId: { tenantId, ownerMoveId } },
          });
          return made ? { outcome: 'Completed', resultingState: made.newState } : undefined;
        },
        'once',
      ),

    async change(key, reader, executing, decide) {
      const { tenantId, entityType } = key;
      let decided: ReturnType<typeof decide> | undefined;
      const sent = await inTenant(tenantId, async (tx) => {
        await holdDefinition(tx, tenantId, entityType);
        const read = await readEntity<OperationResult>(tx, key, reader, known, executing);
        rememberRead(key, read);
        decided = decide(read);
        const { change, operation } = decided;
        const committed = change && (await commitChange(tx, tenantId, read.snapshot, change, operation));
        return { read, committed };
      });
      if (!sent) return undefined;
      const { read, committed } = sent;
      if (committed && (await outcomeOf(committed)) === 'changed') return undefined;
      if (decided?.change) rememberWritten(tenantId, read.snapshot, decided.change);
      return decided;
    },

    async commit(tenantId, snapshot, change, operation) {
      const { entityType, entityId } = change;
      const sent = await inTenant(tenantId, async (tx) => {
        const movesBefore = holdDefinitionAndCountMoves(tx, { tenantId, entityType, entityId });
        movesBefore.catch(() => undefined);
        const applies = isStampOf(tenantId, entityType, snapshot.definitionStamp);
        const committed = await commitChange(tx, tenantId, snapshot, change, operation, applies);
        return { movesBefore, committed };
      });
      if (!sent) return { outcome: 'changed' };
      const outcome = await outcomeOf(sent.committed);
      if (outcome === 'committed') rememberWritten(tenantId, snapshot, change);
      return { outcome, movesBefore: await sent.movesBefore };
    },
  };
}

const outcomeOf = async (committed: CommitResult | Writing): Promise<Commit['outcome']> => {
  if (typeof committed === 'string') return committed;
  return (await committed.isWritten) ? 'committed' : 'changed';
};
