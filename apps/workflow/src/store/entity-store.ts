import type { TransitionOutcome } from '@plinth/contracts/workflow/shapes';
import type { Writing } from '@plinth/runtime/messaging/outbox';
import { isUniqueViolation, type TenantDatabase } from '@plinth/runtime/postgres/postgres';
import { findOperation, payloadMismatch } from '@plinth/runtime/postgres/run-once';
import type { Change } from '../domain/change';
import type { EntityKey, EntitySnapshot } from '../domain/entity-snapshot';
import type { Prisma } from '../generated/client';
import { isStampOf } from './definition-versions';
import { EntityMemory } from './entity-memory';
import {
  commitChange,
  holdDefinition,
  findCompletionAttempt,
  readEntity,
  recordCompletionAttempt,
  setMovingUntil,
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
  /**
   * How many moves the entity had before what was not written; not known where another attempt at the operation was
   * faster.
   */
  movesBefore?: number | undefined;
}

/** A move that an owner is asked to make. */
export interface AskedMove {
  id: string;
  entityType: string;
  entityId: string;
  targetState: string;
  /** Who asks. */
  userId: string;
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
   * The result of the first attempt of an operation on an entity with an owner, or of the move that it would have had
   * the owner make, which counts also where the owner's response was lost; so does that of a request which it
   * completed.
   * @throws Problem `idempotency-payload-mismatch` where the operation was executed with another body, as far as that is known
   */
  findOperation(
    tenantId: string,
    operation: OperationName,
    asked: AskedMove,
  ): Promise<OperationResult | undefined>;
  /**
   * Says until when the owner may be making the move of the open request, or with null that it is not, if the entity is
   * still as it was seen. Results in how it is then.
   * @param completing the operation that completes the request with that move
   */
  setMovingUntil(
    key: EntityKey,
    snapshot: EntitySnapshot,
    movingUntil: Date | null,
    completing?: OperationName,
  ): Promise<EntitySnapshot | undefined>;
  /** The request for approval for whose move an operation asked the owner; undefined where it asked for none. */
  findCompletionAttempt(tenantId: string, operation: OperationName): Promise<string | undefined>;
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

    findOperation: (tenantId, operation, { id, ...asked }) =>
      db.inTenant(
        tenantId,
        async (tx) => {
          const done = await findOperation<OperationResult>(tx, { ...operation, tenantId });
          if (done) return done.result;
          const find = (ownerMoveId: string) =>
            tx.move.findUnique({ where: { tenantId_ownerMoveId: { tenantId, ownerMoveId } } });
          const approvalId = await findCompletionAttempt(tx, { ...operation, tenantId });
          const made = (await find(id)) ?? (approvalId === undefined ? null : await find(approvalId));
          // Another approver completed the request.
          if (!made || made.transitionedBy !== asked.userId) return undefined;
          // The event of an owner, by which it may have been recorded, knows no hash of a body.
          const isAsked =
            made.entityType === asked.entityType &&
            made.entityId === asked.entityId &&
            made.newState === asked.targetState;
          if (!isAsked) throw payloadMismatch();
          return { outcome: 'Completed', resultingState: made.newState };
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

    async setMovingUntil(key, snapshot, movingUntil, completing) {
      const { tenantId } = key;
      const { approval } = snapshot;
      const set = await db.inTenant(
        tenantId,
        async (tx) => {
          const changed = await setMovingUntil(tx, key, snapshot, movingUntil);
          if (changed > 0 && completing && approval)
            await recordCompletionAttempt(tx, { ...completing, tenantId }, approval.id);
          return changed;
        },
        'once',
      );
      return set === 0 ? undefined : { ...snapshot, movingUntil, revision: snapshot.revision + 1 };
    },

    findCompletionAttempt: (tenantId, operation) =>
      db.inTenant(tenantId, (tx) => findCompletionAttempt(tx, { ...operation, tenantId }), 'once'),

    async commit(tenantId, snapshot, change, operation) {
      const { entityType } = change;
      const sent = await inTenant(tenantId, async (tx) => {
        await holdDefinition(tx, tenantId, entityType);
        const applies = isStampOf(tenantId, entityType, snapshot.definitionStamp);
        return { committed: await commitChange(tx, tenantId, snapshot, change, operation, applies) };
      });
      if (!sent) return { outcome: 'changed' };
      const { committed } = sent;
      const outcome = await outcomeOf(committed);
      if (outcome === 'committed') rememberWritten(tenantId, snapshot, change);
      const found = typeof committed === 'string' ? undefined : await committed.found;
      return { outcome, movesBefore: found?.moves };
    },
  };
}

const outcomeOf = async (committed: CommitResult | Writing): Promise<Commit['outcome']> => {
  if (typeof committed === 'string') return committed;
  return (await committed.isWritten) ? 'committed' : 'changed';
};
