import { entityMoved } from '@plinth/contracts/workflow/events';
import type { EventEnvelope, PayloadOf } from '@plinth/kernel/event';
import { subscription, type Subscription } from '@plinth/runtime/inbox';
import { changeOf, SYSTEM, type Change, type Happening } from '../domain/change';
import type { Prisma } from '../generated/client';
import { commitChange, readEntity } from '../store/entity-statements';
import type { SeenEntity } from '../store/seen-entity';

type Tx = Prisma.TransactionClient;
type Moved = EventEnvelope<PayloadOf<ReturnType<typeof entityMoved>>>;

/** What this service listens to: the moves that owners of entities make. */
export const subscriptionsTo = (ownerAreas: readonly string[]): Subscription<Tx>[] =>
  ownerAreas.map((area) => subscription(entityMoved(area), recordOwnerMove));

/**
 * Records a move that an owner made. A move that was asked for here is recorded already, unless its answer was lost;
 * `moveId` tells them apart from those that the owner made by itself.
 */
async function recordOwnerMove(tx: Tx, event: Moved): Promise<void> {
  const { tenantId, payload } = event;
  const { moveId, entityType, entityId } = payload;
  const key = { tenantId, entityType, entityId };
  if ((await tx.move.count({ where: { tenantId, ownerMoveId: moveId } })) > 0) return;

  const seen = await readEntity(tx, key, { userId: SYSTEM.userId, now: new Date(payload.movedAt) });
  if (seen.approval?.id === moveId) {
    await commit(tx, event, seen, { kind: 'approve', approval: seen.approval, seat: payload.movedBy });
    return;
  }
  if (seen.approval) await commit(tx, event, seen, { kind: 'overtake', approval: seen.approval });
  const now = seen.approval ? await readEntity(tx, key, { userId: SYSTEM.userId, now: new Date() }) : seen;
  const { previousState: from, newState: to } = payload;
  const known = now.definition?.definition.transitions.find((one) => one.from === from && one.to === to);
  await commit(tx, event, now, { kind: 'move', transitionName: known?.name ?? 'Move', from, to });
}

async function commit(
  tx: Tx,
  { tenantId, payload, actorName }: Moved,
  seen: SeenEntity,
  happening: Happening,
): Promise<void> {
  const { entityType, entityId, movedBy, movedAt, moveId } = payload;
  const byOwner = happening.kind !== 'overtake';
  const actor = byOwner ? { userId: movedBy, userName: actorName ?? movedBy } : SYSTEM;
  const comment = byOwner ? payload.comment : null;
  const change: Change = changeOf(happening, { entityType, entityId, actor, comment, at: new Date(movedAt) });
  const result = await commitChange(
    tx,
    tenantId,
    seen,
    byOwner ? { ...change, ownerMoveId: moveId } : change,
  );
  // The fact is delivered again.
  if (result === 'changed') throw new Error(`${entityType} ${entityId} was changed meanwhile.`);
}
