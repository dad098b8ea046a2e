import { HOST_TENANT_ID } from '@plinth/kernel/caller';
import { newId } from '@plinth/kernel/uuid';
import type { Writing } from '@plinth/runtime/messaging/outbox';
import type { RawStatements } from '@plinth/runtime/postgres/postgres';
import { send, sql, type Sql } from '@plinth/runtime/postgres/raw-statements';
import {
  findOperation,
  operationRecorded,
  recordOperation,
  requireSameBody,
  type ExecutedOperation,
} from '@plinth/runtime/postgres/run-once';
import { nextStepAt, type Approval, type Delegator, type Vote } from '../domain/approval';
import type { Change, Move } from '../domain/change';
import type { TransitionCommand } from '../domain/transition';
import type { EntityKey, EntitySnapshot } from '../domain/entity-snapshot';
import { writeChange } from '../events/published';
import {
  definitionLockKeys,
  effectiveDefinition,
  newestVersionsOf,
  SELECT_UNKNOWN_VERSIONS,
  stampOf,
  versionStampOf,
  type DefinitionRow,
} from './definition-versions';
import type { KnownDefinitions } from './known-definitions';

/** `made-by-other`: the owner's move is recorded already, under another user. */
export type CommitResult = 'committed' | 'made-by-other';

/** How many moves an entity had before a change that was not written. */
interface MovesBefore {
  moves: number;
}

/** An operation that a change is to be recorded as the effect of. */
export interface Operation<Result = unknown> extends OperationName {
  result: Result;
}

/** An operation that may have been executed before. */
export type OperationName = Pick<TransitionCommand, 'operationId' | 'operationBodyHash'>;

/**
 * Has the definition of a type stay as it is until the end of the transaction; what decides by it reads it after that.
 */
export const holdDefinition = (tx: RawStatements, tenantId: string, entityType: string): Promise<void> =>
  send(
    tx,
    'SELECT pg_advisory_xact_lock_shared($1::bigint), pg_advisory_xact_lock_shared($2::bigint)',
    ...definitionLockKeys(tenantId, entityType),
  );

/** An entity with its definition, its open request, what was agreed to it, and the result of an operation. */
type EntityRow = {
  definitions: (Omit<DefinitionRow, 'savedAt'> & { savedAt: string })[] | null;
  state: string | null;
  revision: number | null;
  moves: number | null;
  approvalId: string | null;
  movingUntil: Date | null;
  votes: Vote[] | null;
  delegators: Delegator[] | null;
  operation: ExecutedOperation<unknown> | null;
} & Approval;

/**
 * Reads an entity with everything a decision about it depends on, and the first attempt of an operation, as they were
 * at one instant. Bodies of definitions that are known are not read.
 * @throws Problem `idempotency-payload-mismatch` where the operation was executed with another body
 */
export async function readEntity<Result>(
  tx: RawStatements,
  { tenantId, entityType, entityId }: EntityKey,
  reader: { userId: string; now: Date },
  known: KnownDefinitions,
  executing?: OperationName,
): Promise<{ snapshot: EntitySnapshot; first: Result | undefined }> {
  // Held here: while the statement runs, others may forget them.
  const owners = [tenantId, HOST_TENANT_ID];
  const [own, platform] = owners.map((owner) => known.recall(owner, entityType));
  const [row] = await tx.$queryRawUnsafe<[EntityRow]>(
    SELECT_ENTITY,
    tenantId,
    entityType,
    entityId,
    executing?.operationId ?? null,
    reader.userId,
    reader.now,
    own?.version ?? null,
    own?.savedAt ?? null,
    platform?.version ?? null,
    platform?.savedAt ?? null,
  );
  const { definitions, state, revision, moves, approvalId, movingUntil, ...rest } = row;
  const { votes, delegators, operation, ...approval } = rest;
  if (executing && operation) requireSameBody(executing, operation);
  const newest = (definitions ?? []).map((found) => {
    const one = { ...found, savedAt: new Date(found.savedAt) };
    const recalled = one.tenantId === HOST_TENANT_ID ? platform : own;
    return recalled && versionStampOf(recalled) === versionStampOf(one)
      ? { ...one, body: recalled.body }
      : one;
  });
  for (const owner of owners) {
    known.remember(
      owner,
      entityType,
      newest.find((one) => one.tenantId === owner),
    );
  }
  const versions = newestVersionsOf(entityType, tenantId, newest);
  const snapshot = {
    definition: effectiveDefinition(versions, tenantId),
    definitionStamp: stampOf(versions),
    state: state ?? undefined,
    revision: revision ?? 0,
    moves: moves ?? 0,
    approval: approvalId === null ? undefined : approval,
    movingUntil,
    votes: votes ?? [],
    delegators: delegators ?? [],
  };
  return { snapshot, first: operation?.result as Result | undefined };
}

/** A request for approval, as columns of statements that the domain reads. */
export const APPROVAL_COLUMNS = `
  id, entity_type AS "entityType", entity_id AS "entityId", transition_name AS "transitionName",
  former_state AS "formerState", target_state AS "targetState", requested_by AS "requestedBy",
  requested_by_name AS "requestedByName", requested_at AS "requestedAt", comment,
  entity_version AS "entityVersion", approver_permission AS "approverPermission",
  approver_users AS "approverUsers", needed, remind_at AS "remindAt", escalate_at AS "escalateAt",
  escalate_permission AS "escalatePermission", escalate_users AS "escalateUsers", is_reminded AS "isReminded",
  is_escalated AS "isEscalated", expires_at AS "expiresAt"`;

/** Each lookup finds its row by the whole key of what was found before it, whatever Postgres knows of the tables. */
const SELECT_ENTITY = `
  SELECT (SELECT json_agg(newest) FROM (${SELECT_UNKNOWN_VERSIONS}) AS newest) AS definitions,
    entity.state, entity.revision, entity.moves, entity.approval_id AS "approvalId",
    entity.moving_until AS "movingUntil", approval.*,
    (SELECT jsonb_build_object('result', result, 'bodyHash', body_hash) FROM executed_operation
     WHERE tenant_id = $1::uuid AND operation_id = $4::text) AS operation,
    CASE WHEN entity.approval_id IS NOT NULL THEN (
      SELECT jsonb_agg(jsonb_build_object('seat', seat, 'voterId', voter_id)) FROM approval_vote
      WHERE tenant_id = $1::uuid AND approval_id = entity.approval_id) END AS votes,
    CASE WHEN entity.approval_id IS NOT NULL THEN (
      SELECT jsonb_agg(jsonb_build_object('userId', delegator_id, 'permissions', permissions) ORDER BY id)
      FROM delegation
      WHERE tenant_id = $1::uuid AND delegate_id = $5::text
        AND from_at <= $6::timestamptz AND until_at > $6::timestamptz) END AS delegators
  FROM (SELECT) AS wanted
  LEFT JOIN LATERAL (
    SELECT state, revision, moves, approval_id, moving_until FROM entity
    WHERE tenant_id = $1::uuid AND entity_type = $2 AND entity_id = $3 LIMIT 1) AS entity ON true
  LEFT JOIN LATERAL (
    SELECT ${APPROVAL_COLUMNS}
    FROM approval WHERE tenant_id = $1::uuid AND id = entity.approval_id LIMIT 1) AS approval ON true`;

/**
 * Writes a change inside a transaction that holds the definition, and the operation that it is the effect of. The
 * entity, its history, its request, the operation and the events are one statement, which writes nothing where the
 * entity is not as it was read or `where` does not hold, and fails by a unique violation where another attempt at the
 * same operation or vote was faster.
 */
export async function commitChange(
  tx: RawStatements,
  tenantId: string,
  snapshot: EntitySnapshot,
  change: Change,
  operation?: Operation,
  where: Sql = sql`true`,
): Promise<CommitResult | Writing<MovesBefore>> {
  const { opened, vote, ended, move } = change;
  const executed = { ...operation, tenantId };
  const mover = change.ownerMoveId && (await findMover(tx, tenantId, change.ownerMoveId));
  if (mover && mover !== change.actor.userId) return 'made-by-other';
  if (mover) {
    await recordOperation(tx, executed, operation?.result);
    return 'committed';
  }
  requireOpenOrEnded(snapshot, change);
  const position = snapshot.moves + 1;
  return writeChange(tx, tenantId, change, position, {
    decisive: comparedAndSet(tenantId, snapshot, change, where),
    toOthers: (isDecided) =>
      [
        opened && approvalOpened(tenantId, opened, change.verifyAt, isDecided),
        vote && voteCast(tenantId, vote, change, isDecided),
        ended && approvalEnded(tenantId, ended, change, isDecided),
        move && moveRecorded(tenantId, move, position, change, isDecided),
        operationRecorded(executed, operation?.result, isDecided),
      ].filter((statement) => statement !== undefined),
    otherwise: movesBefore(tenantId, change),
  });
}

const movesBefore = (tenantId: string, { entityType, entityId }: Change): Sql => sql`
  coalesce((SELECT moves FROM entity
    WHERE tenant_id = ${tenantId}::uuid AND entity_type = ${entityType} AND entity_id = ${entityId}), 0) AS moves`;

/** The user who made a move of the owner, where it is recorded already. */
export const findMover = async (
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

/** A request that is taken from its entity without an end would be open for ever, and no other could be made. */
function requireOpenOrEnded({ approval }: EntitySnapshot, { approvalId, ended, ...change }: Change): void {
  if (!approval || approvalId === approval.id || ended?.approval.id === approval.id) return;
  throw new Error(`A change of ${change.entityType} ${change.entityId} does not end request ${approval.id}.`);
}

/**
 * Whether nothing happened to an entity since it was seen. What a decision depends on is compared too, since a replica of
 * the database that took over may lack the latest changes, and give their revisions to others (ADR 0004); and as rows, by
 * which no index finds it.
 */
const isAsSeen = ({ revision, state, moves, approval }: EntitySnapshot): Sql => sql`
  revision = ${revision}::integer AND (state, moves, approval_id)
    IS NOT DISTINCT FROM (${state ?? null}::text, ${moves}::integer, ${approval?.id ?? null}::uuid)`;

/**
 * Says until when the owner may be making the move of the open request, or with null that it is not; only if nothing
 * happened to the entity since it was read.
 */
export function setMovingUntil(
  tx: RawStatements,
  { tenantId, entityType, entityId }: EntityKey,
  snapshot: EntitySnapshot,
  movingUntil: Date | null,
): Promise<number> {
  const { text, values } = sql`
    UPDATE entity SET moving_until = ${movingUntil}::timestamptz, revision = revision + 1
    WHERE tenant_id = ${tenantId}::uuid AND entity_type = ${entityType} AND entity_id = ${entityId}
      AND ${isAsSeen(snapshot)}`;
  return tx.$executeRawUnsafe(text, ...values);
}

/** Records which request for approval an operation is about to complete, whether it does or not. */
export async function recordCompletionAttempt(
  tx: RawStatements,
  { tenantId, operationId, operationBodyHash }: OperationName & { tenantId: string },
  approvalId: string,
): Promise<void> {
  if (operationId === undefined) return;
  await tx.$executeRawUnsafe(
    `INSERT INTO executed_operation (tenant_id, operation_id, body_hash, result)
     VALUES ($1::uuid, $2, $3, to_jsonb($4::text))
     ON CONFLICT (tenant_id, operation_id) DO UPDATE SET result = EXCLUDED.result`,
    tenantId,
    completionAttemptOf(operationId),
    operationBodyHash ?? null,
    approvalId,
  );
}

/** The request for approval that an operation was about to complete. */
export async function findCompletionAttempt(
  tx: RawStatements,
  { tenantId, operationId, operationBodyHash }: OperationName & { tenantId: string },
): Promise<string | undefined> {
  if (operationId === undefined) return undefined;
  const operation = { tenantId, operationId: completionAttemptOf(operationId), operationBodyHash };
  return (await findOperation<string>(tx, operation))?.result;
}

const completionAttemptOf = (operationId: string): string => `${operationId}/approval`;

/** The one place where the state of an entity changes: only if nothing happened to it since it was read. */
function comparedAndSet(
  tenantId: string,
  snapshot: EntitySnapshot,
  { entityType, entityId, state, approvalId, at, move }: Change,
  where: Sql,
): Sql {
  const movesNow = snapshot.moves + (move ? 1 : 0);
  return snapshot.revision === 0
    ? sql`
      INSERT INTO entity (tenant_id, entity_type, entity_id, state, approval_id, moves, changed_at, revision)
      SELECT ${tenantId}::uuid, ${entityType}, ${entityId}, ${state}, ${approvalId}::uuid, ${movesNow}::integer,
        ${at}::timestamptz, 1 WHERE ${where} ON CONFLICT DO NOTHING`
    : sql`
      UPDATE entity SET state = ${state}, approval_id = ${approvalId}::uuid, moves = ${movesNow}::integer,
        changed_at = ${at}::timestamptz, revision = revision + 1,
        moving_until = CASE WHEN approval_id = ${approvalId}::uuid THEN moving_until END
      WHERE tenant_id = ${tenantId}::uuid AND entity_type = ${entityType} AND entity_id = ${entityId}
        AND ${isAsSeen(snapshot)} AND ${where}`;
}

const moveRecorded = (
  tenantId: string,
  { transitionName, previousState, newState, comment }: Move,
  position: number,
  { entityType, entityId, ownerMoveId, ownerSequence, actor, at }: Change,
  where: Sql,
): Sql => sql`
  INSERT INTO move (tenant_id, entity_type, entity_id, position, id, owner_move_id, owner_sequence, transition_name,
    previous_state, new_state, transitioned_at, transitioned_by, transitioned_by_name, comment)
  SELECT ${tenantId}::uuid, ${entityType}, ${entityId}, ${position}::integer, ${newId()}::uuid,
    ${ownerMoveId ?? null}::uuid, ${ownerSequence ?? null}::bigint, ${transitionName}, ${previousState}, ${newState},
    ${at}::timestamptz, ${actor.userId}, ${actor.userName}, ${comment}
  WHERE ${where}`;

const approvalOpened = (
  tenantId: string,
  approval: Approval,
  verifyAt: Date | undefined,
  where: Sql,
): Sql => sql`
  INSERT INTO approval (tenant_id, id, entity_type, entity_id, transition_name, former_state, target_state,
    requested_by, requested_by_name, requested_at, comment, entity_version, approver_permission, approver_users, needed,
    remind_at, escalate_at, escalate_permission, escalate_users, is_reminded, is_escalated, expires_at, next_step_at,
    verify_at)
  SELECT ${tenantId}::uuid, ${approval.id}::uuid, ${approval.entityType}, ${approval.entityId},
    ${approval.transitionName}, ${approval.formerState}, ${approval.targetState}, ${approval.requestedBy},
    ${approval.requestedByName}, ${approval.requestedAt}::timestamptz, ${approval.comment},
    ${approval.entityVersion}, ${approval.approverPermission}, ${approval.approverUsers}::text[], ${approval.needed}::integer,
    ${approval.remindAt}::timestamptz, ${approval.escalateAt}::timestamptz, ${approval.escalatePermission},
    ${approval.escalateUsers}::text[], ${approval.isReminded}::boolean, ${approval.isEscalated}::boolean,
    ${approval.expiresAt}::timestamptz, ${nextStepAt(approval)}::timestamptz, ${verifyAt ?? null}::timestamptz
  WHERE ${where}`;

const voteCast = (
  tenantId: string,
  { approval, seat }: NonNullable<Change['vote']>,
  { actor, comment, at }: Change,
  where: Sql,
): Sql => sql`
  INSERT INTO approval_vote (tenant_id, approval_id, seat, voter_id, comment, voted_at)
  SELECT ${tenantId}::uuid, ${approval.id}::uuid, ${seat}, ${actor.userId}, ${comment}, ${at}::timestamptz
  WHERE ${where}`;

const approvalEnded = (
  tenantId: string,
  { approval, end }: NonNullable<Change['ended']>,
  { actor, at }: Change,
  where: Sql,
): Sql => sql`
  UPDATE approval SET "end" = ${end}, ended_at = ${at}::timestamptz, ended_by = ${actor.userId}, next_step_at = NULL
  WHERE tenant_id = ${tenantId}::uuid AND id = ${approval.id}::uuid AND ${where}`;
