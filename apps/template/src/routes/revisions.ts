import { templateEndpoints } from '@plinth/contracts/template/endpoints';
import type { TemplateLifecycleStatus } from '@plinth/contracts/template/shapes';
import type { Api } from '@plinth/http/api';
import { ok } from '@plinth/http/response';
import { PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX, OFFSET_MAX } from '@plinth/kernel/list-query';
import { malformed } from '@plinth/kernel/problem';
import type { Deps } from '../compose';
import { save } from '../domain/template';
import { idsForSave, tagOf } from '../store/template-store';
import { toDetail, toRevision, toSummary } from './template-response';

const { getTemplateHistory, getTemplateRevision, restoreTemplateRevision, getTemplateDiff } =
  templateEndpoints;

type Needs = Pick<Deps, 'templates' | 'renderer' | 'clock'>;

export function mountRevisions(api: Api, { templates, renderer, clock }: Needs): void {
  api.on(getTemplateHistory, async ({ params: { name }, query, caller }) => {
    const { culture, page = 1 } = query;
    const pageSize = Math.min(query.pageSize ?? PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX);
    if (page * pageSize > OFFSET_MAX) throw malformed(`Pages cannot go beyond item ${OFFSET_MAX}.`);
    const { rows, totalCount } = await templates.history(caller.tenantId, { name, culture }, page, pageSize);
    const revisions = rows.map(({ status, publishedAt, publishedBy, ...row }) =>
      toSummary({
        ...row,
        status: status as TemplateLifecycleStatus,
        publishedAt: publishedAt ?? undefined,
        publishedBy: publishedBy ?? undefined,
      }),
    );
    return { revisions, totalCount, page, pageSize };
  });

  api.on(getTemplateRevision, async ({ params: { name, id }, caller }) => {
    const { revision } = await templates.getRevision(caller.tenantId, name, id);
    return toRevision(revision);
  });

  api.on(restoreTemplateRevision, async ({ params: { name, id }, caller, precondition }) => {
    const { revision, key } = await templates.getRevision(caller.tenantId, name, id);
    const { content, mimeType } = revision;
    const saving = { ...key, content, mimeType, category: undefined, requiresApproval: undefined };
    const { template } = await templates.change(
      caller,
      key,
      (current) => save(current, saving, idsForSave(), { caller, at: clock.now() }),
      { precondition, mustExist: true },
    );
    return ok(toDetail(template), { etag: tagOf(template) });
  });

  api.on(getTemplateDiff, async ({ params: { name }, query: { from, to }, caller }) => {
    const [before, after] = await Promise.all([
      templates.getRevision(caller.tenantId, name, from),
      templates.getRevision(caller.tenantId, name, to),
    ]);
    const unified = await renderer.diff(
      caller,
      { name: `${name}/${from}`, text: before.revision.content },
      { name: `${name}/${to}`, text: after.revision.content },
    );
    return { from, to, unified };
  });
}
