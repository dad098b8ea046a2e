import { entityMoved } from '@plinth/contracts/workflow/events';
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
export async function startEntityOwnerStub() {
  const states = new Map<string, string>();
  const versions = new Map<string, string>();
  const moves = new Map<string, EntityMovedPayload>();
  const objections: Objection[] = [];
  const held = new Map<string, Promise<unknown>>();
  const requestedBy: string[] = [];
  const { unary } = grpcHandlers(TEST_KEYS, silentLog());
  const keyOf = (caller: Caller | null, entityId: string) => `${caller?.tenantId} ${entityId}`;

  const describe = unary(async ({ entityId }: { entityId: string }, caller) => {
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
      },
      caller,
    ) => {
      const key = keyOf(caller, move.entityId);
      requestedBy.push(move.actorId);
      await held.get(`move ${move.actorId}`);
      const earlier = moves.get(move.moveId);
      if (earlier) return { outcome: 'MOVED', state: states.get(key)!, movedBy: earlier.movedBy };
      if (states.get(key) !== move.from) return { outcome: 'STATE_CHANGED', state: states.get(key) ?? '' };
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
    /** The users who requested moves, in order. */
    requestedBy,
    /** The moves that were requested, by their ids. */
    moves,
    setState: (tenantId: string, entityId: string, state: string) =>
      void states.set(`${tenantId} ${entityId}`, state),
    /** What approvals are bound to from now on; where it is empty this is an owner that knows no versions. */
    setVersion: (tenantId: string, entityId: string, version: string) =>
      void versions.set(`${tenantId} ${entityId}`, version),
    close,
  };
}

export const movedOf = (move: {
  entityType: string;
  entityId: string;
  from: string;
  to: string;
  moveId?: string;
  comment?: string;
  actorId: string;
}): EntityMovedPayload => ({
  entityType: move.entityType,
  entityId: move.entityId,
  moveId: move.moveId ?? newId(),
  previousState: move.from,
  newState: move.to,
  comment: move.comment || null,
  movedAt: new Date().toISOString(),
  movedBy: move.actorId,
});

/** The event of a move, as the owner's outbox makes it, when it is delivered first. */
export const eventOf = (
  tenantId: string,
  payload: EntityMovedPayload,
): DeliveredEvent<EntityMovedPayload> => ({
  id: newId(),
  name: entityMoved('template').name,
  tenantId,
  subject: payload.entityId,
  sequence: 1,
  occurredAt: payload.movedAt,
  actorId: payload.movedBy,
  actorName: payload.movedBy,
  payload,
  deliveryCount: 1,
});

/** Publishes a move as the owner's outbox would. */
export async function publishMove(
  messaging: Messaging,
  tenantId: string,
  payload: EntityMovedPayload,
): Promise<void> {
  const { deliveryCount: _, ...event } = eventOf(tenantId, payload);
  const [subject, body] = [subjectOf(messaging.prefix, event.name), JSON.stringify(event)];
  await messaging.jetstream.publish(subject, body, { headers: signMessage(subject, body, messaging.keys) });
}
