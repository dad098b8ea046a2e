import { templateProblems as problems } from '@plinth/contracts/template/problems';
import type { Caller } from '@plinth/kernel/caller';
import { entityTag, requireMatch, type IfMatch } from '@plinth/kernel/entity-tag';
import { newId } from '@plinth/kernel/uuid';
import { isUniqueViolation, type TenantDatabase } from '@plinth/runtime/postgres';
import type { Prisma, TemplateCategory as CategoryRow } from '../generated/client';

export interface CategoryInput {
  name: string;
  description: string | null | undefined;
  icon: string | null | undefined;
  sortOrder: number;
}

export interface Category extends CategoryRow {
  templateCount: number;
}

export interface CategoryStore {
  all(tenantId: string): Promise<Category[]>;
  /** @throws Problem `category-not-found` */
  get(tenantId: string, id: string): Promise<Category>;
  /** @throws Problem `category-exists` */
  create(caller: Caller, input: CategoryInput): Promise<Category>;
  /** A new name carries the templates along. @throws Problem `category-not-found`, `category-exists` */
  update(caller: Caller, id: string, input: CategoryInput, ifMatch: IfMatch): Promise<Category>;
  /** @throws Problem `category-not-found`, `category-in-use` */
  remove(caller: Caller, id: string, ifMatch: IfMatch): Promise<void>;
}

export const categoryTag = ({ version }: CategoryRow): string => entityTag(version);

export function categoryStore(db: TenantDatabase<Prisma.TransactionClient>): CategoryStore {
  const orExists = async <Result>(name: string, work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work();
    } catch (error) {
      if (!isUniqueViolation(error)) throw error;
      throw problems['category-exists'](`There is a category "${name}" already.`);
    }
  };

  return {
    all: (tenantId) =>
      db.inTenant(tenantId, async (tx) => {
        const rows = await tx.templateCategory.findMany({
          where: { tenantId },
          orderBy: [{ sortOrder: 'asc' }, { name: 'asc' }],
        });
        const counts = await tx.template.groupBy({
          by: ['categoryName'],
          where: { tenantId, isGone: false },
          _count: true,
        });
        const countByName = new Map(counts.map(({ categoryName, _count }) => [categoryName, _count]));
        return rows.map((row) => ({ ...row, templateCount: countByName.get(row.name) ?? 0 }));
      }),

    get: (tenantId, id) =>
      db.inTenant(tenantId, async (tx) => {
        const row = await tx.templateCategory.findUnique({ where: { tenantId_id: { tenantId, id } } });
        if (!row) throw notFound();
        const templateCount = await tx.template.count({
          where: { tenantId, categoryName: row.name, isGone: false },
        });
        return { ...row, templateCount };
      }),

    create: (caller, input) =>
      orExists(input.name, () =>
        db.inTenant(caller.tenantId, async (tx) => {
          const { tenantId, operationId } = caller;
          const done = await doneBefore(tx, caller);
          if (done) return done;
          const row = await tx.templateCategory.create({ data: { tenantId, id: newId(), ...toData(input) } });
          if (operationId !== undefined) {
            await tx.operation.create({ data: { tenantId, id: operationId, result: { category: row.id } } });
          }
          return { ...row, templateCount: 0 };
        }),
      ),

    update: (caller, id, input, ifMatch) =>
      orExists(input.name, () =>
        db.inTenant(caller.tenantId, async (tx) => {
          const { tenantId } = caller;
          const current = await hold(tx, tenantId, id);
          requireMatch(ifMatch, categoryTag(current));
          const row = await tx.templateCategory.update({
            where: { tenantId_id: { tenantId, id } },
            data: { ...toData(input), version: current.version + 1 },
          });
          if (row.name !== current.name) {
            // Postgres carried the name along; those who read a template before must notice.
            await tx.template.updateMany({
              where: { tenantId, categoryName: row.name },
              data: { version: { increment: 1 } },
            });
          }
          const templateCount = await tx.template.count({
            where: { tenantId, categoryName: row.name, isGone: false },
          });
          return { ...row, templateCount };
        }),
      ),

    remove: (caller, id, ifMatch) =>
      db.inTenant(caller.tenantId, async (tx) => {
        const { tenantId } = caller;
        const current = await hold(tx, tenantId, id);
        requireMatch(ifMatch, categoryTag(current));
        const templates = await tx.template.count({ where: { tenantId, categoryName: current.name } });
        if (templates > 0)
          throw problems['category-in-use'](`${templates} templates have the category "${current.name}".`);
        await tx.templateCategory.delete({ where: { tenantId_id: { tenantId, id } } });
      }),
  };
}

async function doneBefore(
  tx: Prisma.TransactionClient,
  { tenantId, operationId }: Caller,
): Promise<Category | undefined> {
  if (operationId === undefined) return undefined;
  const done = await tx.operation.findUnique({ where: { tenantId_id: { tenantId, id: operationId } } });
  const { category } = (done?.result ?? {}) as { category?: string };
  if (category === undefined) return undefined;
  const row = await tx.templateCategory.findUnique({ where: { tenantId_id: { tenantId, id: category } } });
  return row ? { ...row, templateCount: 0 } : undefined;
}

/** Locks a category until the commit. */
async function hold(tx: Prisma.TransactionClient, tenantId: string, id: string): Promise<CategoryRow> {
  await tx.$queryRaw`SELECT 1 FROM template_category WHERE tenant_id = ${tenantId}::uuid AND id = ${id}::uuid FOR UPDATE`;
  const row = await tx.templateCategory.findUnique({ where: { tenantId_id: { tenantId, id } } });
  if (!row) throw notFound();
  return row;
}

const notFound = () => problems['category-not-found']('There is no category of this id.');

const toData = ({ name, description, icon, sortOrder }: CategoryInput) => ({
  name,
  description: description ?? null,
  icon: icon ?? null,
  sortOrder,
});
