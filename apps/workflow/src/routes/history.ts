import { getHistory } from '@plinth/contracts/workflow/endpoints';
import { workflowProblems } from '@plinth/contracts/workflow/problems';
import type { Api } from '@plinth/conventions/api';
import type { Deps } from '../compose';

export function mountHistory(
  api: Api,
  { definitions, history }: Pick<Deps, 'definitions' | 'history'>,
): void {
  api.on(getHistory, async ({ params, list, caller: { tenantId } }) => {
    const { entityType } = params;
    if (!(await definitions.find(tenantId, entityType)))
      throw workflowProblems['entity-type-unknown'](
        `No workflow is defined for the entity type "${entityType}".`,
      );
    const { offset, limit, after } = list;
    const before = after === undefined ? undefined : Number(after[0]);
    const { rows, totalCount } = await history.page({ tenantId, ...params }, { before, offset, limit });
    const { items, nextCursor = null } = list.toPage(
      rows,
      totalCount,
      ({ previousState, newState, transitionedAt, transitionedBy, comment }) => ({
        previousState,
        newState,
        transitionedAt,
        transitionedBy,
        comment,
      }),
      ({ position }) => [position],
    );
    return { items, totalCount, nextCursor };
  });
}
