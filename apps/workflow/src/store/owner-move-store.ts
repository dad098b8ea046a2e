import type { entityMoved } from '@plinth/contracts/workflow/events';
import type { DeliveredEvent, PayloadOf } from '@plinth/kernel/event';
import { SYSTEM_ACTOR } from '../domain/actor';
import { changeOf, type TransitionEvent } from '../domain/change';
import type { EntitySnapshot } from '../domain/entity-snapshot';
import type { Prisma } from '../generated/client';
import { commitChange, findMover, holdDefinition, readEntity } from './entity-statements';
import { KnownDefinitions } from './known-definitions';

type Tx = Prisma.TransactionClient;
type EntityMovedEvent = DeliveredEvent<PayloadOf<ReturnType<typeof entityMoved>>>;

/**
 * How often a move is put off that does not lead on from where the entity is. Replicas publish and process events side by
 * side, so that a later one may come first, also long after it happened, as behind a backlog; where the owner published
 * none in between, as for what was deleted and made again, the history goes on without it. Deliveries count whichever
 * replica they come to, and at the sixth an event is taken for one that ends processes.
 */
const EARLIER_MOVE_DELIVERIES = 3;

/**
 * Records a move that an owner made. A move that was requested here is recorded already, unless the owner's response was
 * lost; `moveId` tells those apart from moves that the owner made by itself.
 * @throws where an earlier move may still come: the inbox processes the event again
 */
export async function recordOwnerMove(tx: Tx, event: EntityMovedEvent): Promise<void> {
  const { tenantId, payload } = event;
  const { moveId, entityType, entityId, movedBy, previousState: from, newState: to } = payload;
  const key = { tenantId, entityType, entityId };
  if (await findMover(tx, tenantId, moveId)) return;

  await holdDefinition(tx, tenantId, entityType);
  const { userId } = SYSTEM_ACTOR;
  const known = new KnownDefinitions();
  const { snapshot } = await readEntity(tx, key, { userId, now: new Date(payload.movedAt) }, known);
  const { approval } = snapshot;
  if (approval?.id === moveId) {
    await commit(tx, event, snapshot, { kind: 'approve', approval, seat: movedBy });
    return;
  }
  requireEarlierMove(event, snapshot);
  if (approval) await commit(tx, event, snapshot, { kind: 'overtake', approval, isMoved: true });
  const current = approval
    ? (await readEntity(tx, key, { userId, now: new Date() }, known)).snapshot
    : snapshot;
  const transitions = current.definition?.definition.transitions ?? [];
  const transition = transitions.find((candidate) => candidate.from === from && candidate.to === to);
  await commit(tx, event, current, { kind: 'move', transitionName: transition?.name ?? 'Move', from, to });
}

function requireEarlierMove(
  { payload: { entityType, entityId, previousState }, deliveryCount }: EntityMovedEvent,
  { state, definition }: EntitySnapshot,
): void {
  const recorded = state ?? definition?.definition.initialState;
  if (recorded !== previousState && deliveryCount <= EARLIER_MOVE_DELIVERIES)
    throw new Error(`The move of ${entityType} ${entityId} to ${previousState} is not recorded yet.`);
}

async function commit(
  tx: Tx,
  { tenantId, payload, actorName }: EntityMovedEvent,
  snapshot: EntitySnapshot,
  event: TransitionEvent,
): Promise<void> {
  const { entityType, entityId, movedBy, movedAt, moveId } = payload;
  const isByOwner = event.kind !== 'overtake';
  const actor = isByOwner ? { userId: movedBy, userName: actorName ?? movedBy } : SYSTEM_ACTOR;
  const comment = isByOwner ? payload.comment : null;
  const change = changeOf(event, { entityType, entityId, actor, comment, at: new Date(movedAt) });
  const made = isByOwner ? { ...change, ownerMoveId: moveId } : change;
  const committed = await commitChange(tx, tenantId, snapshot, made);
  // The inbox processes the event again.
  if (typeof committed === 'object' && !(await committed.isWritten))
    throw new Error(`${entityType} ${entityId} was changed meanwhile`);
}
