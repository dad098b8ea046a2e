import { protoPackages } from '@plinth/proto/packages';
import type { Close } from '@plinth/runtime/process/lifecycle';
import { serviceClient } from '@plinth/runtime/rpc/grpc';
import type { Registry } from 'prom-client';
import type { EntityOwner, EntityOwners, OwnerMoveResult } from '../app/entity-owner';
import { ownerResponseUnknown } from '../domain/problems';

const DEADLINE_MILLISECONDS = 5_000;

/** Opens clients for those owners whose address is known. */
export function entityOwners(
  config: {
    GRPC_SERVICES: Record<string, string>;
    WORKFLOW_ENTITY_OWNERS: Record<string, string>;
    CALLER_KEYS: readonly string[];
  },
  onClose: (close: Close) => void,
  metrics: Registry,
): EntityOwners {
  const known = Object.entries(config.WORKFLOW_ENTITY_OWNERS).flatMap(([entityType, service]) => {
    const address = config.GRPC_SERVICES[service];
    return address === undefined ? [] : [{ entityType, service, address }];
  });
  return new Map(
    known.map(({ entityType, service, address }) => {
      const { EntityOwner } = protoPackages.workflow.v1;
      const client = serviceClient(service, EntityOwner, address, config.CALLER_KEYS, metrics);
      onClose(client.close);
      return [entityType, toEntityOwner(client, service)];
    }),
  );
}

const toEntityOwner = (
  client: ReturnType<typeof serviceClient<InstanceType<typeof protoPackages.workflow.v1.EntityOwner>>>,
  service: string,
): EntityOwner => ({
  async describe(caller, entity) {
    const options = { deadlineMilliseconds: DEADLINE_MILLISECONDS };
    const { exists, state, objections, version } = await client.call('Describe', entity, caller, options);
    return { exists, state, objections, version: version || null };
  },

  async apply(caller, { comment, version, notAfter, ...move }) {
    const actor = { actorId: caller.userId, actorName: caller.userName };
    const request = {
      ...move,
      ...actor,
      comment: comment ?? '',
      version: version ?? '',
      notAfter: notAfter?.toISOString() ?? '',
    };
    const { outcome, state, movedBy } = await client.call('Apply', request, caller);
    if (!isKnown(outcome)) throw ownerResponseUnknown(service);
    return { outcome, state, movedBy: movedBy || caller.userId };
  },
});

const OUTCOMES: readonly OwnerMoveResult['outcome'][] = [
  'MOVED',
  'STATE_CHANGED',
  'DENIED',
  'VERSION_CHANGED',
];

const isKnown = (outcome: string | number): outcome is OwnerMoveResult['outcome'] =>
  OUTCOMES.some((known) => known === outcome);
