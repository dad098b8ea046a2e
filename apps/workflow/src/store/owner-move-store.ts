import type { entityMoved } from '@plinth/contracts/workflow/events';
import type { DeliveredEvent, PayloadOf } from '@plinth/kernel/event';
import { SYSTEM_ACTOR } from '../domain/actor';
import { seatLeft, type Approval } from '../domain/approval';
import { changeOf, type Change, type TransitionEvent } from '../domain/change';
import type { EntitySnapshot } from '../domain/entity-snapshot';
import type { Prisma } from '../generated/client';
import { commitChange, holdDefinition, readEntity } from './entity-statements';
import { KnownDefinitions } from './known-definitions';

type Tx = Prisma.TransactionClient;
type EntityMovedEvent = DeliveredEvent<PayloadOf<ReturnType<typeof entityMoved>>>;

/**
 * How often a move is put off that does not lead on from where the entity is. Replicas publish and process events side
 * by side, so that a later one may come first, also long after it happened, as behind a backlog; where the owner
 * published none in between, as for what was deleted and made again, the history goes on without it. Deliveries count
 * whichever replica they come to, and at the sixth an event is taken for one that ends processes.
 */
const EARLIER_MOVE_DELIVERIES = 3;
/**
 * So many moves are looked at for one that the owner made later; an event that comes behind more of them is taken for
 * the last.
 */
const NEWEST_MOVES = 20;
/** By so much the clocks of the processes of an owner differ at most. */
const CLOCKS_DIFFER_MILLISECONDS = 60_000;

/**
 * Records a move that an owner made. A move that was requested here is recorded already, unless the owner's response
 * was lost; `moveId` tells those apart from moves that the owner made by itself.
 * @throws where an earlier move may still come: the inbox processes the event again
 */
export async function recordOwnerMove(tx: Tx, event: EntityMovedEvent): Promise<void> {
  const { tenantId, payload } = event;
  const { moveId, entityType, entityId, movedBy } = payload;
  const key = { tenantId, entityType, entityId };
  if (await isRecorded(tx, event)) return;

  await holdDefinition(tx, tenantId, entityType);
  const reader = { userId: movedBy, now: new Date(payload.movedAt) };
  const known = new KnownDefinitions();
  const { snapshot } = await readEntity(tx, key, reader, known);
  const { approval } = snapshot;
  if (approval?.id === moveId) {
    await recordApprovedMove(tx, event, snapshot, approval);
    return;
  }
  if (snapshot.moves > 0 && (await isEarlierThanRecorded(tx, event, snapshot))) {
    await recordEarlierMove(tx, event, snapshot);
    return;
  }
  requireEarlierMove(event, snapshot);
  if (approval) await commit(tx, event, snapshot, { kind: 'overtake', approval, isMoved: true });
  const current = approval ? (await readEntity(tx, key, reader, known)).snapshot : snapshot;
  await commit(tx, event, current, moveOf(event, current));
}

/** Whether a move is recorded already; from now on with its place among those of the owner. */
async function isRecorded(
  tx: Tx,
  { tenantId, sequence, payload: { moveId } }: EntityMovedEvent,
): Promise<boolean> {
  const recorded = await tx.$executeRawUnsafe(
    'UPDATE move SET owner_sequence = $3::bigint WHERE tenant_id = $1::uuid AND owner_move_id = $2::uuid',
    tenantId,
    moveId,
    sequence,
  );
  return recorded > 0;
}

/**
 * Records the move of a request with the vote that completed it. The event does not say from which seat that was; where
 * none is left, as when a delegation was taken back meanwhile, the move is recorded without a vote.
 */
async function recordApprovedMove(
  tx: Tx,
  event: EntityMovedEvent,
  snapshot: EntitySnapshot,
  approval: Approval,
): Promise<void> {
  const { movedBy } = event.payload;
  const seat = seatLeft(approval, snapshot, movedBy);
  const { vote, ...change } = changeOfMove(event, { kind: 'approve', approval, seat: seat ?? movedBy });
  await write(tx, event, snapshot, seat === undefined || !vote ? change : { ...change, vote });
}

function moveOf({ payload }: EntityMovedEvent, { definition }: EntitySnapshot): TransitionEvent {
  const { previousState: from, newState: to } = payload;
  const transitions = definition?.definition.transitions ?? [];
  const transition = transitions.find((candidate) => candidate.from === from && candidate.to === to);
  return { kind: 'move', transitionName: transition?.name ?? 'Move', from, to };
}

interface RecordedMove {
  sequence: number | null;
  transitionedAt: Date;
  previousState: string;
}

/**
 * Whether a move that the owner made later is recorded already: the owner numbers them. Where its database was
 * restored, it may give its latest numbers again: a move that is later than all of them by more than clocks differ is
 * so whatever its number. Of one whose event is still to come only clocks tell: a move that leads on from where the
 * entity is follows what is recorded, unless it led to where the later one began, as of a move there and back.
 */
async function isEarlierThanRecorded(
  tx: Tx,
  { tenantId, sequence, payload }: EntityMovedEvent,
  { state }: EntitySnapshot,
): Promise<boolean> {
  const { entityType, entityId, previousState, newState } = payload;
  const movedAt = new Date(payload.movedAt);
  const recorded = await tx.$queryRawUnsafe<RecordedMove[]>(
    `SELECT sequence::float8, transitioned_at AS "transitionedAt", previous_state AS "previousState"
     FROM (SELECT owner_move_id, owner_sequence AS sequence, transitioned_at, previous_state FROM move
       WHERE tenant_id = $1::uuid AND entity_type = $2 AND entity_id = $3
       ORDER BY tenant_id, entity_type, entity_id, position DESC LIMIT ${NEWEST_MOVES}) AS newest
     WHERE owner_move_id IS NOT NULL`,
    tenantId,
    entityType,
    entityId,
  );
  const isLaterThan = ({ transitionedAt }: RecordedMove) =>
    movedAt.getTime() - transitionedAt.getTime() > CLOCKS_DIFFER_MILLISECONDS;
  if (recorded.every(isLaterThan)) return false;
  if (recorded.some((one) => one.sequence !== null && one.sequence > sequence)) return true;
  const [last] = recorded
    .filter((one) => one.sequence === null && one.transitionedAt > movedAt)
    .toSorted((one, other) => other.transitionedAt.getTime() - one.transitionedAt.getTime());
  return last !== undefined && (previousState !== state || newState === last.previousState);
}

/**
 * Records in the history what was overtaken by a later move: that says where the entity is and whether a request is
 * open.
 */
async function recordEarlierMove(tx: Tx, event: EntityMovedEvent, snapshot: EntitySnapshot): Promise<void> {
  const { state, approval } = snapshot;
  const change = changeOfMove(event, moveOf(event, snapshot));
  await write(tx, event, snapshot, { ...change, state: state!, approvalId: approval?.id ?? null });
}

function requireEarlierMove(
  { payload: { entityType, entityId, previousState }, deliveryCount }: EntityMovedEvent,
  { state, definition }: EntitySnapshot,
): void {
  const recorded = state ?? definition?.definition.initialState;
  if (recorded !== previousState && deliveryCount <= EARLIER_MOVE_DELIVERIES)
    throw new Error(`The move of ${entityType} ${entityId} to ${previousState} is not recorded yet.`);
}

const commit = (
  tx: Tx,
  event: EntityMovedEvent,
  snapshot: EntitySnapshot,
  made: TransitionEvent,
): Promise<void> => write(tx, event, snapshot, changeOfMove(event, made));

function changeOfMove({ payload, actorName, sequence }: EntityMovedEvent, event: TransitionEvent): Change {
  const { entityType, entityId, movedBy, movedAt, moveId } = payload;
  const isByOwner = event.kind !== 'overtake';
  const actor = isByOwner ? { userId: movedBy, userName: actorName ?? movedBy } : SYSTEM_ACTOR;
  const comment = isByOwner ? payload.comment : null;
  const change = changeOf(event, { entityType, entityId, actor, comment, at: new Date(movedAt) });
  return isByOwner ? { ...change, ownerMoveId: moveId, ownerSequence: sequence } : change;
}

async function write(
  tx: Tx,
  { tenantId, payload: { entityType, entityId } }: EntityMovedEvent,
  snapshot: EntitySnapshot,
  change: Change,
): Promise<void> {
  const committed = await commitChange(tx, tenantId, snapshot, change);
  // The inbox processes the event again.
  if (typeof committed === 'object' && !(await committed.isWritten))
    throw new Error(`${entityType} ${entityId} was changed meanwhile`);
}
