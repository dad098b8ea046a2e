import { entityGone, entityMoved } from '@plinth/contracts/workflow/events';
import { systemClock, type Clock } from '@plinth/kernel/clock';
import type { DeliveredEvent, PayloadOf } from '@plinth/kernel/event';
import { newId } from '@plinth/kernel/uuid';
import type { Caller } from '@plinth/kernel/caller';
import { protoPackages } from '@plinth/proto/packages';
import { grpcHandlers, serveGrpc } from '@plinth/runtime/rpc/grpc';
import { silentLog } from '@plinth/runtime/process/log';
import { subjectOf, type Messaging } from '@plinth/runtime/messaging/nats';
import { signMessage } from '@plinth/runtime/messaging/signed-message';
import { TEST_KEYS } from '@plinth/testing/http';

interface Objection {
  targetState: string;
  reason: string;
  concernsCaller: boolean;
}

type EntityMovedPayload = PayloadOf<ReturnType<typeof entityMoved>>;

/** Stands for a service that owns the state of its templates, as the template service does. */
export async function startEntityOwnerStub(clock: Clock = systemClock) {
  const states = new Map<string, string>();
  const versions = new Map<string, string>();
  const moves = new Map<string, EntityMovedPayload>();
  const objections: Objection[] = [];
  const held = new Map<string, Promise<unknown>>();
  const requestedBy: string[] = [];
  const refusals = new Set<string>();
  const { unary } = grpcHandlers(TEST_KEYS, silentLog());
  const movedOf = movesBy(clock);
  const keyOf = (caller: Caller | null, entityId: string) => `${caller?.tenantId} ${entityId}`;

  let described = 0;
  const describe = unary(async ({ entityId }: { entityId: string }, caller) => {
    described++;
    const state = states.get(keyOf(caller, entityId));
    const version = versions.get(keyOf(caller, entityId)) ?? '';
    return { exists: state !== undefined, state: state ?? '', objections, version };
  });

  const apply = unary(
    async (
      move: {
        entityType: string;
        entityId: string;
        from: string;
        to: string;
        moveId: string;
        comment: string;
        actorId: string;
        version: string;
        notAfter: string;
      },
      caller,
    ) => {
      const key = keyOf(caller, move.entityId);
      requestedBy.push(move.actorId);
      await held.get(`move ${move.actorId}`);
      const earlier = moves.get(move.moveId);
      if (earlier) return { outcome: 'MOVED', state: states.get(key)!, movedBy: earlier.movedBy };
      const isLate = move.notAfter !== '' && clock.now() > new Date(move.notAfter);
      if (isLate || states.get(key) !== move.from)
        return { outcome: 'STATE_CHANGED', state: states.get(key) ?? '' };
      if (refusals.has(`${caller?.tenantId} ${move.actorId}`)) return { outcome: 'DENIED', state: move.from };
      const version = versions.get(key);
      if (version && move.version && move.version !== version)
        return { outcome: 'VERSION_CHANGED', state: move.from };
      states.set(key, move.to);
      moves.set(move.moveId, movedOf(move));
      await held.get(`response ${move.actorId}`);
      return { outcome: 'MOVED', state: move.to, movedBy: move.actorId };
    },
  );

  const { port, close } = await serveGrpc({ HTTP_HOST: '127.0.0.1', GRPC_PORT: 0 }, [
    { definition: protoPackages.workflow.v1.EntityOwner.service, handlers: { describe, apply } },
  ]);
  return {
    address: `127.0.0.1:${port}`,
    objections,
    /** Promises to wait for: `move ann` before the move is made, `response ann` after it. */
    held,
    /** How often it was asked where something is. */
    described: () => described,
    /** The users who requested moves, in order. */
    requestedBy,
    /** Tenants and users whose moves are refused, although no objection was shown before. */
    refusals,
    /** The moves that were requested, by their ids. */
    moves,
    setState: (tenantId: string, entityId: string, state: string) =>
      void states.set(`${tenantId} ${entityId}`, state),
    /** Deletes it, of which nothing is published. */
    remove: (tenantId: string, entityId: string) => void states.delete(`${tenantId} ${entityId}`),
    /** What approvals are bound to from now on; where it is empty this is an owner that knows no versions. */
    setVersion: (tenantId: string, entityId: string, version: string) =>
      void versions.set(`${tenantId} ${entityId}`, version),
    close,
  };
}

/** The number of each move among those of the owner, as its database gives it, whatever clocks say. */
const numbers = new Map<string, number>();
function numberOf(moveId: string): number {
  const number = numbers.get(moveId) ?? numbers.size + 1;
  numbers.set(moveId, number);
  return number;
}

interface OwnerMove {
  entityType: string;
  entityId: string;
  from: string;
  to: string;
  moveId?: string;
  comment?: string;
  actorId: string;
}

/** What a process of the owner publishes of its moves, by its clock. */
export const movesBy =
  (clock: Clock) =>
  (move: OwnerMove): EntityMovedPayload => {
    const moveId = move.moveId ?? newId();
    numberOf(moveId);
    return {
      entityType: move.entityType,
      entityId: move.entityId,
      moveId,
      previousState: move.from,
      newState: move.to,
      comment: move.comment || null,
      movedAt: clock.now().toISOString(),
      movedBy: move.actorId,
    };
  };

/** The event of a move, as the owner's outbox makes it, when it is delivered first. */
export const eventOf = (
  tenantId: string,
  payload: EntityMovedPayload,
): DeliveredEvent<EntityMovedPayload> => ({
  id: newId(),
  name: entityMoved('template').name,
  tenantId,
  subject: payload.entityId,
  sequence: numberOf(payload.moveId),
  occurredAt: payload.movedAt,
  actorId: payload.movedBy,
  actorName: payload.movedBy,
  payload,
  deliveryCount: 1,
});

/** The event that the template is gone, as the owner's outbox makes it. */
export const goneOf = (tenantId: string): DeliveredEvent<PayloadOf<ReturnType<typeof entityGone>>> => ({
  id: newId(),
  name: entityGone('template').name,
  tenantId,
  subject: 'welcome',
  sequence: 1,
  occurredAt: new Date().toISOString(),
  actorId: 'owner',
  actorName: 'owner',
  payload: { entityType: 'Template', entityIds: ['another', 'welcome'] },
  deliveryCount: 1,
});

/** Publishes a move as the owner's outbox would. */
export const publishMove = (
  messaging: Messaging,
  tenantId: string,
  payload: EntityMovedPayload,
): Promise<void> => publish(messaging, eventOf(tenantId, payload));

/** Publishes an event as the owner's outbox would. */
export async function publish(
  messaging: Messaging,
  { deliveryCount: _, ...event }: DeliveredEvent,
): Promise<void> {
  const [subject, body] = [subjectOf(messaging.prefix, event.name), JSON.stringify(event)];
  await messaging.jetstream.publish(subject, body, { headers: signMessage(subject, body, messaging.keys) });
}
