import { getTransitions, postTransition, postTransitions } from '@plinth/contracts/workflow/endpoints';
import type { Api } from '@plinth/conventions/api';
import { batchResultOf } from '@plinth/conventions/batch';
import type { Deps } from '../compose';
import type { OperationResult } from '../store/entity-store';

export function mountTransitions(api: Api, { machine }: Pick<Deps, 'machine'>): void {
  api.on(getTransitions, async ({ params, caller }) => {
    const { currentState, options } = await machine.status(caller, params);
    const availableTransitions = options.map(({ targetState, name, requiresApproval, reasons, effect }) => ({
      targetState,
      name,
      allowed: effect !== undefined,
      requiresApproval,
      reasons,
    }));
    return { currentState, availableTransitions };
  });

  api.on(postTransition, async ({ params, body, caller }) => {
    const { targetState, comment = null } = body;
    const { operationId } = caller;
    return toResult(await machine.execute(caller, { ...params, targetState, comment, operationId }));
  });

  api.on(postTransitions, ({ body, caller }) =>
    batchResultOf(body.items, async ({ comment = null, ...item }, index) => {
      const operationId = caller.operationId && `${caller.operationId}#${index}`;
      return toResult(await machine.execute(caller, { ...item, comment, operationId }));
    }),
  );
}

const toResult = ({ outcome, resultingState }: OperationResult) => ({
  succeeded: outcome === 'Completed' || outcome === 'ApprovalRequested',
  resultingState,
  outcome,
});
