import { entityMoved } from '@plinth/contracts/workflow/events';
import type { EventEnvelope, PayloadOf } from '@plinth/kernel/event';
import { newId } from '@plinth/kernel/uuid';
import type { Caller } from '@plinth/kernel/caller';
import { protoPackages } from '@plinth/proto/packages';
import { grpcHandlers, serveGrpc } from '@plinth/runtime/grpc';
import { silentLog } from '@plinth/runtime/log';
import { subjectOf, type Messaging } from '@plinth/runtime/nats';
import { TEST_KEYS } from '@plinth/testing/http';

interface Objection {
  targetState: string;
  reason: string;
  concernsCaller: boolean;
}

type Moved = PayloadOf<ReturnType<typeof entityMoved>>;

/** A service that keeps the state of its templates, as the template service does. */
export async function startOwner() {
  const states = new Map<string, string>();
  const made = new Map<string, Moved>();
  const objections: Objection[] = [];
  const held = new Map<string, Promise<unknown>>();
  const asked: string[] = [];
  const { unary } = grpcHandlers(TEST_KEYS, silentLog());
  const keyOf = (caller: Caller | null, entityId: string) => `${caller?.tenantId} ${entityId}`;

  const describe = unary(async ({ entityId }: { entityId: string }, caller) => {
    const state = states.get(keyOf(caller, entityId));
    return { exists: state !== undefined, state: state ?? '', objections };
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
      },
      caller,
    ) => {
      const key = keyOf(caller, move.entityId);
      asked.push(move.actorId);
      await held.get(`move ${move.actorId}`);
      const earlier = made.get(move.moveId);
      if (earlier) return { outcome: 'MOVED', state: states.get(key)!, movedBy: earlier.movedBy };
      if (states.get(key) !== move.from) return { outcome: 'STATE_CHANGED', state: states.get(key) ?? '' };
      states.set(key, move.to);
      made.set(move.moveId, movedOf(move));
      await held.get(`answer ${move.actorId}`);
      return { outcome: 'MOVED', state: move.to, movedBy: move.actorId };
    },
  );

  const { port, close } = await serveGrpc({ HTTP_HOST: '127.0.0.1', GRPC_PORT: 0 }, [
    { definition: protoPackages.workflow.v1.EntityOwner.service, handlers: { describe, apply } },
  ]);
  return {
    address: `127.0.0.1:${port}`,
    objections,
    /** What waits for what: `move ann` before it is made, `answer ann` after. */
    held,
    /** Who asked for moves, in this order. */
    asked,
    /** The moves that were asked for, by their ids. */
    made,
    place: (tenantId: string, entityId: string, state: string) =>
      void states.set(`${tenantId} ${entityId}`, state),
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
}): Moved => ({
  entityType: move.entityType,
  entityId: move.entityId,
  moveId: move.moveId ?? newId(),
  previousState: move.from,
  newState: move.to,
  comment: move.comment || null,
  movedAt: new Date().toISOString(),
  movedBy: move.actorId,
});

/** Tells a move as the owner's outbox would. */
export async function tellMove(messaging: Messaging, tenantId: string, payload: Moved): Promise<void> {
  const event: EventEnvelope<Moved> = {
    id: newId(),
    name: entityMoved('template').name,
    tenantId,
    subject: payload.entityId,
    sequence: 1,
    occurredAt: payload.movedAt,
    actorId: payload.movedBy,
    actorName: payload.movedBy,
    payload,
  };
  await messaging.jetstream.publish(subjectOf(messaging.prefix, event.name), JSON.stringify(event));
}
