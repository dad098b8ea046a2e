import { workflowEndpoints } from '@plinth/contracts/workflow/endpoints';
import type { Api } from '@plinth/http/api';
import { batchResultOf } from '@plinth/http/batch';
import { recordBatch } from '@plinth/runtime/postgres/run-once';
import type { Deps } from '../compose';
import { toResultResponse, toTransitionResponse } from './transition-response';

const { getTransitions, postTransition, postTransitions } = workflowEndpoints;

export function mountTransitions(
  api: Api,
  {
    transitions,
    owners,
    batchItems,
    ownedBatchItems,
    db,
  }: Pick<Deps, 'transitions' | 'owners' | 'batchItems' | 'ownedBatchItems' | 'db'>,
): void {
  // Those of other services wait for them, and hold up nobody who does not.
  const placesFor = ({ entityType }: { entityType: string }) =>
    owners.has(entityType) ? ownedBatchItems : batchItems;

  api.on(getTransitions, async ({ params, caller }) => {
    const { currentState, options } = await transitions.status(caller, params);
    return { currentState, availableTransitions: options.map(toTransitionResponse) };
  });

  api.on(postTransition, async ({ params, body, caller }) => {
    const { targetState, comment = null, approvalId = null } = body;
    const { operationId, operationBodyHash } = caller;
    const command = { ...params, targetState, comment, approvalId, operationId, operationBodyHash };
    return toResultResponse(await transitions.execute(caller, command));
  });

  api.on(postTransitions, async ({ body, caller }) => {
    await recordBatch(db, caller);
    return batchResultOf(
      body.items,
      async ({ comment = null, approvalId = null, ...item }, index) => {
        const { operationBodyHash } = caller;
        const operationId = caller.operationId && `${caller.operationId}#${index}`;
        const command = { ...item, comment, approvalId, operationId, operationBodyHash };
        return toResultResponse(await transitions.execute(caller, command));
      },
      { placesFor, owner: caller },
    );
  });
}
