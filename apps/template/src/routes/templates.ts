import { templateEndpoints } from '@plinth/contracts/template/endpoints';
import type { SaveTemplateRequest, TemplateLifecycleStatus } from '@plinth/contracts/template/shapes';
import type { Api } from '@plinth/http/api';
import { created, noContent, ok } from '@plinth/http/response';
import type { Caller } from '@plinth/kernel/caller';
import { invalid } from '@plinth/kernel/problem';
import type { Deps } from '../compose';
import { templateExists } from '../domain/problems';
import { chooseApproval, deleteDraft, save, type Saving, type Template } from '../domain/template';
import { idsForSave, tagOf, type TemplateSummary } from '../store/template-store';
import { pathOf, toDetail, toKey } from './template-response';

const { getTemplates, getTemplate, postTemplate, putTemplate, deleteTemplate } = templateEndpoints;

type Needs = Pick<Deps, 'templates' | 'settings' | 'clock'>;

export function mountTemplates(api: Api, { templates, settings, clock }: Needs): void {
  /** Saves a text over whatever there is; the setting is read only where the request says something about approval. */
  const saver = async (saving: Saving, caller: Caller) => {
    const ofTenant =
      saving.requiresApproval !== undefined && (await settings.isApprovalRequired(caller.tenantId));
    return (current: Template | undefined) => {
      const requiresApproval = chooseApproval(current, saving, ofTenant, caller);
      return save(current, { ...saving, requiresApproval }, idsForSave(), { caller, at: clock.now() });
    };
  };

  api.on(getTemplates, async ({ query: { status, category, culture }, list, caller }) => {
    const { rows, totalCount } = await templates.list(caller.tenantId, { status, category, culture }, list);
    return list.toPage(rows, totalCount, toListItem, (row) => [
      ...list.sort.map(({ field }) => sortValue(row, field)),
      row.id,
    ]);
  });

  api.on(getTemplate, async ({ params: { name }, query: { culture }, caller }) => {
    const template = await templates.get(caller.tenantId, { name, culture });
    return ok(toDetail(template), { etag: tagOf(template) });
  });

  api.on(postTemplate, async ({ body, caller }) => {
    const saving = toSaving(body);
    const saveOver = await saver(saving, caller);
    const { template } = await templates.create(caller, saving, (current) => {
      if (current && !current.isGone) throw templateExists(current);
      return saveOver(current);
    });
    return created(toDetail(template), pathOf(template), { etag: tagOf(template) });
  });

  api.on(putTemplate, async ({ params: { name }, body, caller, precondition }) => {
    if (body.name !== name)
      throw invalid({ name: 'Immutable' }, 'The name in the body differs from the name in the path.');
    const saving = toSaving(body);
    const { template, isNew } = await templates.change(caller, saving, await saver(saving, caller), {
      precondition,
    });
    const etag = tagOf(template);
    return isNew ? created(toDetail(template), pathOf(template), { etag }) : ok(toDetail(template), { etag });
  });

  api.on(deleteTemplate, async ({ params: { name }, query: { culture }, caller, precondition }) => {
    await templates.change(
      caller,
      { name, culture },
      (current) => deleteDraft(current!, { caller, at: clock.now() }),
      { precondition, mustExist: true },
    );
    return noContent();
  });
}

const toSaving = ({
  name,
  culture,
  content,
  mimeType,
  category,
  requiresApproval,
}: SaveTemplateRequest): Saving => ({
  name,
  culture: culture ?? undefined,
  content,
  mimeType: mimeType ?? undefined,
  category,
  requiresApproval,
});

const toListItem = (row: TemplateSummary) => ({
  ...toKey(row),
  ...(row.categoryName === null ? {} : { category: row.categoryName }),
  status: row.status as TemplateLifecycleStatus,
  mimeType: row.mimeType,
  lastModifiedAt: row.lastModifiedAt,
  lastModifiedBy: row.lastModifiedBy,
  hasPublishedVersion: row.publishedId !== null,
});

function sortValue(row: TemplateSummary, field: string): string | number {
  const value = row[field as 'name' | 'status' | 'category' | 'culture' | 'lastModifiedAt'];
  return value instanceof Date ? value.toISOString() : value;
}
