import type { TransitionOutcome } from '@plinth/contracts/workflow/shapes';
import { newId } from '@plinth/kernel/uuid';
import { appendToOutbox, type OutboxRelay } from '@plinth/runtime/outbox';
import { isUniqueViolation, type TenantDatabase } from '@plinth/runtime/postgres';
import type { Approval, Delegator, Vote } from '../domain/approval';
import { nextStepAt } from '../domain/approval';
import { factOfMove, type Change, type Fact } from '../domain/change';
import type { Prisma } from '../generated/client';
import { toApproval } from './approval-rows';
import {
  definitionLock,
  effectiveOf,
  readVersions,
  stampOf,
  type StoredDefinition,
} from './definition-store';
import { findDelegators } from './delegation-store';

type Tx = Prisma.TransactionClient;

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

export interface OperationResult {
  outcome: TransitionOutcome;
  resultingState: string;
}

/** `changed`: something else happened to the entity, or another definition applies, since it was read. */
export type Commit = 'committed' | 'changed';

export interface EntityStore {
  read(key: EntityKey, reader: { userId: string; now: Date }): Promise<SeenEntity>;
  /**
   * What an operation was answered the first time. `ownerMoveId` is the move that it would have made an owner make,
   * which counts also where the answer was lost.
   */
  findOperation(
    tenantId: string,
    operationId: string,
    ownerMoveId?: string,
  ): Promise<OperationResult | undefined>;
  /** Forgets operations that nobody repeats any more; answers how many. */
  forgetOperationsBefore(moment: Date): Promise<number>;
  /** Writes a change if the entity is still as it was seen: state, history, request, facts and operation at once. */
  commit(
    tenantId: string,
    seen: SeenEntity,
    change: Change,
    operation?: { id: string; result: OperationResult },
  ): Promise<Commit>;
}

export function entityStore(db: TenantDatabase<Tx>, outbox: Pick<OutboxRelay, 'wake'>): EntityStore {
  return {
    read: (key, reader) => db.inTenant(key.tenantId, (tx) => readEntity(tx, key, reader)),

    findOperation: (tenantId, operationId, ownerMoveId) =>
      db.inTenant(tenantId, async (tx) => {
        const done = await tx.operation.findUnique({
          where: { tenantId_operationId: { tenantId, operationId } },
        });
        if (done) return { outcome: done.outcome as TransitionOutcome, resultingState: done.resultState };
        const made =
          ownerMoveId &&
          (await tx.move.findUnique({ where: { tenantId_ownerMoveId: { tenantId, ownerMoveId } } }));
        return made ? { outcome: 'Completed', resultingState: made.newState } : undefined;
      }),

    forgetOperationsBefore: async (moment) =>
      (await db.inPlatform((tx) => tx.operation.deleteMany({ where: { doneAt: { lt: moment } } }))).count,

    async commit(tenantId, seen, change, operation) {
      try {
        const result = await db.inTenant(tenantId, async (tx) => {
          const commit = await commitChange(tx, tenantId, seen, change);
          if (commit === 'committed' && operation) await noteOperation(tx, tenantId, operation, change.at);
          return commit;
        });
        outbox.wake();
        return result;
      } catch (error) {
        // Another attempt at the same operation or vote was faster.
        if (isUniqueViolation(error)) return 'changed';
        throw error;
      }
    },
  };
}

/** Reads an entity inside a transaction. */
export async function readEntity(
  tx: Tx,
  { tenantId, entityType, entityId }: EntityKey,
  reader: { userId: string; now: Date },
): Promise<SeenEntity> {
  const versions = await readVersions(tx, tenantId, entityType);
  const row = await tx.entity.findUnique({
    where: { tenantId_entityType_entityId: { tenantId, entityType, entityId } },
  });
  const approval = row?.approvalId
    ? await tx.approval.findUnique({
        where: { tenantId_id: { tenantId, id: row.approvalId } },
        include: { votes: true },
      })
    : null;
  return {
    definition: effectiveOf(versions, tenantId),
    definitionStamp: stampOf(versions),
    state: row?.state,
    revision: row?.revision ?? 0,
    moves: row?.moves ?? 0,
    approval: approval ? toApproval(approval) : undefined,
    votes: approval?.votes ?? [],
    delegators: approval ? await findDelegators(tx, tenantId, reader.userId, reader.now) : [],
  };
}

/** Writes a change inside a transaction that somebody else ends. */
export async function commitChange(
  tx: Tx,
  tenantId: string,
  seen: SeenEntity,
  change: Change,
): Promise<Commit> {
  const { entityType } = change;
  await tx.$queryRaw`SELECT pg_advisory_xact_lock_shared(${definitionLock(entityType)})::text`;
  if (stampOf(await readVersions(tx, tenantId, entityType)) !== seen.definitionStamp) return 'changed';
  if (change.ownerMoveId && (await isRecorded(tx, tenantId, change.ownerMoveId))) return 'committed';
  if (!(await compareAndSet(tx, tenantId, seen, change))) return 'changed';

  if (change.opened) await tx.approval.create({ data: toApprovalRow(tenantId, change.opened) });
  if (change.vote) {
    const { actor, comment, at } = change;
    await tx.approvalVote.create({
      data: { tenantId, ...change.vote, voterId: actor.userId, comment, votedAt: at },
    });
  }
  if (change.ended) {
    await tx.approval.update({
      where: { tenantId_id: { tenantId, id: change.ended.approval.id } },
      data: { end: change.ended.end, endedAt: change.at, endedBy: change.actor.userId, nextStepAt: null },
    });
  }
  const facts = [...change.facts, ...(await recordMove(tx, tenantId, seen, change))];
  for (const { type, payload } of facts) {
    const subject = `${entityType}/${change.entityId}`;
    await appendToOutbox(tx, { type, tenantId, subject, payload, actor: change.actor });
  }
  return 'committed';
}

/** The one place where an entity changes: only if nothing happened to it since it was seen. */
async function compareAndSet(tx: Tx, tenantId: string, seen: SeenEntity, change: Change): Promise<boolean> {
  const { entityType, entityId, state, approvalId, at } = change;
  const values = { state, approvalId, changedAt: at, moves: seen.moves + (change.move ? 1 : 0) };
  if (seen.revision === 0) {
    const { count } = await tx.entity.createMany({
      data: [{ tenantId, entityType, entityId, revision: 1, ...values }],
      skipDuplicates: true,
    });
    return count === 1;
  }
  const { count } = await tx.entity.updateMany({
    where: { tenantId, entityType, entityId, revision: seen.revision },
    data: { ...values, revision: seen.revision + 1 },
  });
  return count === 1;
}

async function recordMove(tx: Tx, tenantId: string, seen: SeenEntity, change: Change): Promise<Fact[]> {
  if (!change.move) return [];
  const { entityType, entityId, move, actor, at } = change;
  const position = seen.moves + 1;
  await tx.move.createMany({
    data: [
      {
        tenantId,
        entityType,
        entityId,
        position,
        id: newId(),
        ownerMoveId: change.ownerMoveId ?? null,
        ...move,
        transitionedAt: at,
        transitionedBy: actor.userId,
        transitionedByName: actor.userName,
      },
    ],
  });
  return [factOfMove(change, move, position)];
}

const isRecorded = async (tx: Tx, tenantId: string, ownerMoveId: string): Promise<boolean> =>
  (await tx.move.count({ where: { tenantId, ownerMoveId } })) > 0;

const noteOperation = (
  tx: Tx,
  tenantId: string,
  { id, result }: { id: string; result: OperationResult },
  at: Date,
) =>
  tx.operation.create({
    data: {
      tenantId,
      operationId: id,
      outcome: result.outcome,
      resultState: result.resultingState,
      doneAt: at,
    },
  });

const toApprovalRow = (tenantId: string, approval: Approval) => ({
  tenantId,
  ...approval,
  approverUsers: [...approval.approverUsers],
  escalateUsers: [...approval.escalateUsers],
  nextStepAt: nextStepAt(approval),
});
