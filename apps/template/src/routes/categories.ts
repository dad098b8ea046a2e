import { templateEndpoints } from '@plinth/contracts/template/endpoints';
import type { TemplateCategory } from '@plinth/contracts/template/shapes';
import type { Api } from '@plinth/http/api';
import { created, noContent, ok } from '@plinth/http/response';
import type { Deps } from '../compose';
import { categoryTag, type Category } from '../store/category-store';

const {
  getTemplateCategories,
  getTemplateCategory,
  postTemplateCategory,
  putTemplateCategory,
  deleteTemplateCategory,
} = templateEndpoints;

export function mountCategories(api: Api, { categories }: Pick<Deps, 'categories'>): void {
  api.on(getTemplateCategories, async ({ caller }) =>
    (await categories.all(caller.tenantId)).map(toCategory),
  );

  api.on(getTemplateCategory, async ({ params: { id }, caller }) => {
    const category = await categories.get(caller.tenantId, id);
    return ok(toCategory(category), { etag: categoryTag(category) });
  });

  api.on(postTemplateCategory, async ({ body: { name, description, icon, sortOrder }, caller }) => {
    const category = await categories.create(caller, { name, description, icon, sortOrder: sortOrder ?? 0 });
    return created(toCategory(category), `/template-categories/${category.id}`, {
      etag: categoryTag(category),
    });
  });

  api.on(
    putTemplateCategory,
    async ({ params: { id }, body: { name, description, icon, sortOrder }, caller, precondition }) => {
      const category = await categories.update(
        caller,
        id,
        { name, description, icon, sortOrder },
        precondition,
      );
      return ok(toCategory(category), { etag: categoryTag(category) });
    },
  );

  api.on(deleteTemplateCategory, async ({ params: { id }, caller, precondition }) => {
    await categories.remove(caller, id, precondition);
    return noContent();
  });
}

const toCategory = ({
  id,
  name,
  description,
  icon,
  sortOrder,
  templateCount,
}: Category): TemplateCategory => ({
  id,
  name,
  ...(description === null ? {} : { description }),
  ...(icon === null ? {} : { icon }),
  sortOrder,
  templateCount,
});
