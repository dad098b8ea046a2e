import { templateEndpoints } from '@plinth/contracts/template/endpoints';
import { templateProblems as problems } from '@plinth/contracts/template/problems';
import type { Api } from '@plinth/conventions/api';
import { noContent } from '@plinth/conventions/reply';
import type { Deps } from '../compose';
import {
  availableTransitions,
  isApprovalNeeded,
  publish,
  title,
  unpublish,
  type Template,
} from '../domain/template';
import { doesNotParse } from '../render/renderer';
import { toKey } from './wire';

const { publishTemplate, unpublishTemplate, getTemplateLifecycle } = templateEndpoints;

type Needs = Pick<Deps, 'templates' | 'renderer' | 'settings' | 'clock'>;

export function mountLifecycle(api: Api, { templates, renderer, settings, clock }: Needs): void {
  /** Whether this template must be reviewed; the tenant is asked only where the template leaves it open. */
  const approvalFor = async (tenantId: string, template: Template): Promise<boolean> =>
    isApprovalNeeded(
      template,
      template.requiresApproval === undefined && (await settings.isApprovalRequired(tenantId)),
    );

  api.on(publishTemplate, async ({ params: { name }, query: { culture }, caller }) => {
    const key = { name, culture };
    const template = await templates.get(caller.tenantId, key);
    const approval = await approvalFor(caller.tenantId, template);
    const checked = template.draft;
    if (checked) {
      const { errors } = await renderer.read(caller.tenantId, checked.content, 'newest', culture);
      if (errors.length > 0) throw doesNotParse(errors);
    }
    await templates.change(
      caller,
      key,
      (current) => {
        // What was checked is what is published, whoever saves meanwhile.
        if (checked && current!.draft && current!.draft.id !== checked.id) {
          throw problems['template-without-draft'](
            `${title(key)} was saved again meanwhile; look at it and publish again.`,
          );
        }
        return publish(current!, approval, { caller, at: clock.now() });
      },
      { mustExist: true },
    );
    return noContent();
  });

  api.on(unpublishTemplate, async ({ params: { name }, query: { culture }, caller }) => {
    await templates.change(
      caller,
      { name, culture },
      (current) => unpublish(current!, { caller, at: clock.now() }),
      { mustExist: true },
    );
    return noContent();
  });

  api.on(getTemplateLifecycle, async ({ params: { name }, query: { culture }, caller }) => {
    const template = await templates.get(caller.tenantId, { name, culture });
    const approval = await approvalFor(caller.tenantId, template);
    return {
      ...toKey(template),
      currentStatus: template.status,
      workflowEnabled: approval,
      availableTransitions: availableTransitions(template, caller, approval),
    };
  });
}
