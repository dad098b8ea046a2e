import { workflowEndpoints } from '@plinth/contracts/workflow/endpoints';
import type { Api } from '@plinth/http/api';
import type { Deps } from '../compose';
import { entityTypeUnknown } from '../domain/problems';
import { toHistoryResponse } from './history-response';

const { getHistory } = workflowEndpoints;

export function mountHistory(
  api: Api,
  { definitions, history }: Pick<Deps, 'definitions' | 'history'>,
): void {
  api.on(getHistory, async ({ params, list, caller: { tenantId } }) => {
    const { entityType } = params;
    if (!(await definitions.find(tenantId, entityType))) throw entityTypeUnknown(entityType);
    const { sort, offset, limit } = list;
    const isNewestFirst = sort.every(({ descending }) => descending);
    const after = list.after && Number(list.after[0]);
    const part = { isNewestFirst, after, offset, limit };
    const { rows, totalCount } = await history.page({ tenantId, ...params }, part);
    const { items, nextCursor = null } = list.toPage(rows, totalCount, toHistoryResponse, ({ position }) => [
      position,
    ]);
    return { items, totalCount, nextCursor };
  });
}
