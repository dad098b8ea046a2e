import type { Caller } from '@plinth/kernel/caller';
import { unavailable } from '@plinth/kernel/problem';
import { protoPackages } from '@plinth/proto/packages';
import { sibling } from '@plinth/runtime/grpc';
import type { Close } from '@plinth/runtime/lifecycle';
import type { Objection } from '../domain/transition';

const DEADLINE_MILLISECONDS = 5_000;

/** What the owner of an entity says about it. */
export interface Description {
  exists: boolean;
  state: string;
  objections: Objection[];
}

export interface OwnerMove {
  entityType: string;
  entityId: string;
  from: string;
  to: string;
  moveId: string;
  comment: string | null;
}

export interface Applied {
  outcome: 'MOVED' | 'STATE_CHANGED' | 'DENIED';
  state: string;
  /** Who made the move: of several who complete one request, the first. */
  movedBy: string;
}

/** The service that keeps the state of entities of one type. */
export interface EntityOwner {
  describe(caller: Caller, entity: { entityType: string; entityId: string }): Promise<Description>;
  apply(caller: Caller, move: OwnerMove): Promise<Applied>;
}

/** The owners by entity type. */
export type EntityOwners = ReadonlyMap<string, EntityOwner>;

/** Prepares questions to those owners whose address is known. */
export function entityOwners(
  config: {
    GRPC_SERVICES: Record<string, string>;
    WORKFLOW_ENTITY_OWNERS: Record<string, string>;
    CALLER_KEYS: readonly string[];
  },
  onClose: (close: Close) => void,
): EntityOwners {
  const known = Object.entries(config.WORKFLOW_ENTITY_OWNERS).flatMap(([entityType, area]) => {
    const address = config.GRPC_SERVICES[area];
    return address === undefined ? [] : [{ entityType, area, address }];
  });
  return new Map(
    known.map(({ entityType, area, address }) => {
      const { EntityOwner } = protoPackages.workflow.v1;
      const owner = sibling(area, EntityOwner, address, config.CALLER_KEYS);
      onClose(owner.close);
      return [entityType, toEntityOwner(owner, area)];
    }),
  );
}

const toEntityOwner = (
  owner: ReturnType<typeof sibling<InstanceType<typeof protoPackages.workflow.v1.EntityOwner>>>,
  area: string,
): EntityOwner => ({
  async describe(caller, entity) {
    const options = { deadlineMilliseconds: DEADLINE_MILLISECONDS };
    const { exists, state, objections } = await owner.ask('Describe', entity, caller, options);
    return { exists, state, objections };
  },

  async apply(caller, { comment, ...move }) {
    const request = { ...move, comment: comment ?? '', actorId: caller.userId, actorName: caller.userName };
    const { outcome, state, movedBy } = await owner.ask('Apply', request, caller);
    if (outcome !== 'MOVED' && outcome !== 'STATE_CHANGED' && outcome !== 'DENIED')
      throw unavailable(`The area ${area} gave an answer that this version does not know.`);
    return { outcome, state, movedBy: movedBy || caller.userId };
  },
});
