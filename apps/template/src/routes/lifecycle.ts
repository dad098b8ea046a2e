import { templateEndpoints } from '@plinth/contracts/template/endpoints';
import type { Api } from '@plinth/http/api';
import { noContent } from '@plinth/http/response';
import type { Deps } from '../compose';
import { toKey } from './template-response';

const { publishTemplate, unpublishTemplate, getTemplateLifecycle } = templateEndpoints;

export function mountLifecycle(api: Api, { lifecycle }: Pick<Deps, 'lifecycle'>): void {
  api.on(publishTemplate, async ({ params: { name }, query: { culture }, caller, precondition }) => {
    await lifecycle.publish(caller, { name, culture }, precondition);
    return noContent();
  });

  api.on(unpublishTemplate, async ({ params: { name }, query: { culture }, caller }) => {
    await lifecycle.unpublish(caller, { name, culture });
    return noContent();
  });

  api.on(getTemplateLifecycle, async ({ params: { name }, query: { culture }, caller }) => {
    const { template, needsApproval, available, blocked } = await lifecycle.transitions(caller, {
      name,
      culture,
    });
    return {
      ...toKey(template),
      currentStatus: template.status,
      workflowEnabled: needsApproval,
      availableTransitions: available,
      blockedTransitions: blocked.map(({ to, problem }) => ({
        status: to,
        problem: problem.slug ?? problem.kind,
        reason: problem.detail,
      })),
    };
  });
}
