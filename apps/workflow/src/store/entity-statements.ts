import { newId } from '@plinth/kernel/uuid';
import type { RawStatements } from '@plinth/runtime/postgres/postgres';
import { send } from '@plinth/runtime/postgres/raw-statements';
import { nextStepAt, type Approval, type Vote } from '../domain/approval';
import type { Change, Move } from '../domain/change';
import type { EntityKey, EntitySnapshot } from '../domain/entity-snapshot';
import { publishChange } from '../events/published';
import {
  definitionLockKey,
  effectiveDefinition,
  readStamp,
  readVersions,
  stampOf,
} from './definition-versions';
import { findDelegators } from './delegation-store';

/** `made-by-other`: the owner's move is recorded already, under another user. */
export type CommitResult = 'committed' | 'made-by-other';

/** Something else happened to an entity, or another definition applies, since it was read. */
export class EntityChanged extends Error {
  constructor({ entityType, entityId }: Pick<Change, 'entityType' | 'entityId'>) {
    super(`${entityType} ${entityId} was changed meanwhile`);
  }
}

interface EntityRow {
  state: string;
  revision: number;
  moves: number;
  approvalId: string | null;
}

/** Reads an entity with everything a decision about it depends on. */
export async function readEntity(
  tx: RawStatements,
  { tenantId, entityType, entityId }: EntityKey,
  reader: { userId: string; now: Date },
): Promise<EntitySnapshot> {
  const [versions, [row]] = await Promise.all([
    readVersions(tx, tenantId, entityType),
    tx.$queryRawUnsafe<EntityRow[]>(
      `SELECT state, revision, moves, approval_id AS "approvalId" FROM entity
       WHERE tenant_id = $1::uuid AND entity_type = $2 AND entity_id = $3`,
      tenantId,
      entityType,
      entityId,
    ),
  ]);
  const approvalId = row?.approvalId;
  const [approval, votes, delegators] = approvalId
    ? await Promise.all([
        readApproval(tx, tenantId, approvalId),
        readVotes(tx, tenantId, approvalId),
        findDelegators(tx, tenantId, reader.userId, reader.now),
      ])
    : [undefined, [], []];
  return {
    definition: effectiveDefinition(versions, tenantId),
    definitionStamp: stampOf(versions),
    state: row?.state,
    revision: row?.revision ?? 0,
    moves: row?.moves ?? 0,
    approval,
    votes,
    delegators,
  };
}

async function readApproval(tx: RawStatements, tenantId: string, id: string): Promise<Approval | undefined> {
  const [approval] = await tx.$queryRawUnsafe<Approval[]>(
    `SELECT id, entity_type AS "entityType", entity_id AS "entityId", transition_name AS "transitionName",
            former_state AS "formerState", target_state AS "targetState", requested_by AS "requestedBy",
            requested_by_name AS "requestedByName", requested_at AS "requestedAt", comment,
            approver_permission AS "approverPermission", approver_users AS "approverUsers", needed,
            remind_at AS "remindAt", escalate_at AS "escalateAt", escalate_permission AS "escalatePermission",
            escalate_users AS "escalateUsers", is_reminded AS "isReminded", is_escalated AS "isEscalated",
            expires_at AS "expiresAt"
     FROM approval WHERE tenant_id = $1::uuid AND id = $2::uuid`,
    tenantId,
    id,
  );
  return approval;
}

const readVotes = (tx: RawStatements, tenantId: string, approvalId: string): Promise<Vote[]> =>
  tx.$queryRawUnsafe<Vote[]>(
    `SELECT seat, voter_id AS "voterId" FROM approval_vote WHERE tenant_id = $1::uuid AND approval_id = $2::uuid`,
    tenantId,
    approvalId,
  );

/**
 * Writes a change inside a transaction. Everything goes out in one message, so that it is known only afterwards whether
 * the entity was still as it was read.
 * @throws EntityChanged, or a unique violation, where it was not: then the transaction must end without a commit
 */
export async function commitChange(
  tx: RawStatements,
  tenantId: string,
  snapshot: EntitySnapshot,
  change: Change,
): Promise<CommitResult> {
  const { entityType } = change;
  await send(tx, 'SELECT pg_advisory_xact_lock_shared($1::bigint)', definitionLockKey(entityType));
  const mover = change.ownerMoveId && (await findMover(tx, tenantId, change.ownerMoveId));
  if (mover) return mover === change.actor.userId ? 'committed' : 'made-by-other';

  const position = snapshot.moves + 1;
  // In this order, in one message.
  const [stamp, isAsRead] = await Promise.all([
    readStamp(tx, tenantId, entityType),
    compareAndSet(tx, tenantId, snapshot, change),
    change.opened && openApproval(tx, tenantId, change.opened),
    change.vote && castVote(tx, tenantId, change.vote, change),
    change.ended && endApproval(tx, tenantId, change.ended, change),
    change.move && recordMove(tx, tenantId, change.move, position, change),
    publishChange(tx, tenantId, change, position),
  ]);
  if (stamp !== snapshot.definitionStamp || !isAsRead) throw new EntityChanged(change);
  return 'committed';
}

/** The user who made a move of the owner, where it is recorded already. */
const findMover = async (
  tx: RawStatements,
  tenantId: string,
  ownerMoveId: string,
): Promise<string | undefined> => {
  const [row] = await tx.$queryRawUnsafe<{ userId: string }[]>(
    'SELECT transitioned_by AS "userId" FROM move WHERE tenant_id = $1::uuid AND owner_move_id = $2::uuid',
    tenantId,
    ownerMoveId,
  );
  return row?.userId;
};

/** The one place where an entity changes: only if nothing happened to it since it was read. */
async function compareAndSet(
  tx: RawStatements,
  tenantId: string,
  snapshot: EntitySnapshot,
  { entityType, entityId, state, approvalId, at, move }: Change,
): Promise<boolean> {
  const values = [tenantId, entityType, entityId, state, approvalId, snapshot.moves + (move ? 1 : 0), at];
  const changed =
    snapshot.revision === 0
      ? await tx.$executeRawUnsafe(
          `INSERT INTO entity (tenant_id, entity_type, entity_id, state, approval_id, moves, changed_at, revision)
           VALUES ($1::uuid, $2, $3, $4, $5::uuid, $6::integer, $7::timestamptz, 1) ON CONFLICT DO NOTHING`,
          ...values,
        )
      : await tx.$executeRawUnsafe(
          `UPDATE entity SET state = $4, approval_id = $5::uuid, moves = $6::integer, changed_at = $7::timestamptz,
                             revision = revision + 1
           WHERE tenant_id = $1::uuid AND entity_type = $2 AND entity_id = $3 AND revision = $8::integer`,
          ...values,
          snapshot.revision,
        );
  return changed === 1;
}

async function recordMove(
  tx: RawStatements,
  tenantId: string,
  move: Move,
  position: number,
  { entityType, entityId, ownerMoveId, actor, at }: Change,
): Promise<void> {
  await send(
    tx,
    `INSERT INTO move (tenant_id, entity_type, entity_id, position, id, owner_move_id, transition_name,
                       previous_state, new_state, transitioned_at, transitioned_by, transitioned_by_name, comment)
     VALUES ($1::uuid, $2, $3, $4::integer, $5::uuid, $6::uuid, $7, $8, $9, $10::timestamptz, $11, $12, $13)`,
    tenantId,
    entityType,
    entityId,
    position,
    newId(),
    ownerMoveId ?? null,
    move.transitionName,
    move.previousState,
    move.newState,
    at,
    actor.userId,
    actor.userName,
    move.comment,
  );
}

async function openApproval(tx: RawStatements, tenantId: string, approval: Approval): Promise<void> {
  await send(
    tx,
    `INSERT INTO approval (tenant_id, id, entity_type, entity_id, transition_name, former_state, target_state,
       requested_by, requested_by_name, requested_at, comment, approver_permission, approver_users, needed,
       remind_at, escalate_at, escalate_permission, escalate_users, is_reminded, is_escalated, expires_at, next_step_at)
     VALUES ($1::uuid, $2::uuid, $3, $4, $5, $6, $7, $8, $9, $10::timestamptz, $11, $12, $13::text[], $14::integer,
       $15::timestamptz, $16::timestamptz, $17, $18::text[], $19::boolean, $20::boolean, $21::timestamptz, $22::timestamptz)`,
    tenantId,
    approval.id,
    approval.entityType,
    approval.entityId,
    approval.transitionName,
    approval.formerState,
    approval.targetState,
    approval.requestedBy,
    approval.requestedByName,
    approval.requestedAt,
    approval.comment,
    approval.approverPermission,
    approval.approverUsers,
    approval.needed,
    approval.remindAt,
    approval.escalateAt,
    approval.escalatePermission,
    approval.escalateUsers,
    approval.isReminded,
    approval.isEscalated,
    approval.expiresAt,
    nextStepAt(approval),
  );
}

async function castVote(
  tx: RawStatements,
  tenantId: string,
  { approval, seat }: NonNullable<Change['vote']>,
  { actor, comment, at }: Change,
): Promise<void> {
  await send(
    tx,
    `INSERT INTO approval_vote (tenant_id, approval_id, seat, voter_id, comment, voted_at)
     VALUES ($1::uuid, $2::uuid, $3, $4, $5, $6::timestamptz)`,
    tenantId,
    approval.id,
    seat,
    actor.userId,
    comment,
    at,
  );
}

async function endApproval(
  tx: RawStatements,
  tenantId: string,
  { approval, end }: NonNullable<Change['ended']>,
  { actor, at }: Change,
): Promise<void> {
  await send(
    tx,
    `UPDATE approval SET "end" = $3, ended_at = $4::timestamptz, ended_by = $5, next_step_at = NULL
     WHERE tenant_id = $1::uuid AND id = $2::uuid`,
    tenantId,
    approval.id,
    end,
    at,
    actor.userId,
  );
}
