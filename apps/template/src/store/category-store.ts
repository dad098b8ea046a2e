import { CATEGORIES_MAX } from '@plinth/contracts/template/shapes';
import type { Caller } from '@plinth/kernel/caller';
import { entityTag, requirePrecondition, type Precondition } from '@plinth/kernel/entity-tag';
import { newId } from '@plinth/kernel/uuid';
import { lockUntilCommit } from '@plinth/runtime/postgres/lock';
import { isUniqueViolation, type TenantDatabase } from '@plinth/runtime/postgres/postgres';
import { readByIndexes } from '@plinth/runtime/postgres/read-by-indexes';
import { runOnce } from '@plinth/runtime/postgres/run-once';
import type { FairPlaces } from '@plinth/runtime/process/fair-places';
import {
  categoryExists,
  categoryInUse,
  categoryNotFound,
  tooManyCategories,
  tooManyToRename,
} from '../domain/problems';
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

/** A repeated operation changes nothing more. */
export interface CategoryStore {
  all(tenantId: string): Promise<Category[]>;
  /** @throws Problem `category-not-found` */
  get(tenantId: string, id: string): Promise<Category>;
  /** @throws Problem `category-exists`, `quota-exceeded` */
  create(caller: Caller, input: CategoryInput): Promise<Category>;
  /**
   * Templates keep their category when it gets a new name.
   * @throws Problem `category-not-found`, `category-exists`, `validation` where they are too many for that
   */
  update(caller: Caller, id: string, input: CategoryInput, precondition: Precondition): Promise<Category>;
  /** @throws Problem `category-not-found`, `category-in-use` */
  remove(caller: Caller, id: string, precondition: Precondition): Promise<void>;
}

export const categoryTag = ({ version, templateCount }: Category): string =>
  entityTag(version, templateCount);

/** Countings of templates at the same time, one of a tenant; each reads as many places of an index as it counts. */
export const COUNTINGS = 2;

export function categoryStore(
  db: TenantDatabase<Prisma.TransactionClient>,
  countings: FairPlaces,
): CategoryStore {
  const orExists = async <Result>(name: string, work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work();
    } catch (error) {
      if (!isUniqueViolation(error)) throw error;
      throw categoryExists(name);
    }
  };

  const counting = <Result>(tenantId: string, work: () => Promise<Result>): Promise<Result> =>
    countings.run({ tenantId, userId: '' }, work);

  const withCount = async (row: CategoryRow): Promise<Category> => {
    const { tenantId, id } = row;
    const counts = await counting(tenantId, () =>
      db.inTenant(tenantId, (tx) => countTemplates(tx, tenantId, { id })),
    );
    return { ...row, templateCount: counts.get(id) ?? 0 };
  };

  return {
    all: (tenantId) =>
      counting(tenantId, () =>
        db.inTenant(tenantId, async (tx) => {
          const rows = await tx.templateCategory.findMany({
            where: { tenantId },
            orderBy: [{ sortOrder: 'asc' }, { name: 'asc' }],
            take: CATEGORIES_MAX,
          });
          const counts = await countTemplates(tx, tenantId);
          return rows.map((row) => ({ ...row, templateCount: counts.get(row.id) ?? 0 }));
        }),
      ),

    get: async (tenantId, id) => withCount(await db.inTenant(tenantId, (tx) => getIn(tx, tenantId, id))),

    create: async (caller, input) => {
      const row = await orExists(input.name, () =>
        db.inTenant(caller.tenantId, async (tx) => {
          const { tenantId } = caller;
          const { category: id } = await runOnce(tx, caller, async () => {
            const id = newId();
            await requireRoom(tx, tenantId);
            await tx.templateCategory.create({ data: { tenantId, id, ...toData(input) } });
            return { category: id };
          });
          return getIn(tx, tenantId, id);
        }),
      );
      return withCount(row);
    },

    update: async (caller, id, input, precondition) => {
      const row = await orExists(input.name, () =>
        db.inTenant(caller.tenantId, async (tx) => {
          const { tenantId } = caller;
          await runOnce(tx, caller, async () => {
            const current = await hold(tx, tenantId, id);
            requirePrecondition(precondition, entityTag(current.version));
            if (input.name !== current.name) await requireFewTemplates(tx, tenantId, current.name);
            // Postgres updates the name in the templates, and their versions with it, since their ETags must change.
            await tx.templateCategory.update({
              where: { tenantId_id: { tenantId, id } },
              data: { ...toData(input), version: current.version + 1 },
            });
          });
          return getIn(tx, tenantId, id);
        }),
      );
      return withCount(row);
    },

    remove: (caller, id, precondition) =>
      db.inTenant(caller.tenantId, (tx) =>
        runOnce(tx, caller, async () => {
          const { tenantId } = caller;
          const current = await hold(tx, tenantId, id);
          requirePrecondition(precondition, entityTag(current.version));
          await requireNoTemplates(tx, tenantId, current.name);
          await tx.templateCategory.delete({ where: { tenantId_id: { tenantId, id } } });
        }),
      ),
  };
}

async function getIn(tx: Prisma.TransactionClient, tenantId: string, id: string): Promise<CategoryRow> {
  const row = await tx.templateCategory.findUnique({ where: { tenantId_id: { tenantId, id } } });
  if (!row) throw categoryNotFound();
  return row;
}

/**
 * Counts the templates of each category, or of one, by the id of the category. They are asked for in the order of the
 * one index that has all that is looked at, so that only the index is read, whatever the statistics know (ADR 0022).
 */
async function countTemplates(
  tx: Prisma.TransactionClient,
  tenantId: string,
  { id }: { id?: string } = {},
): Promise<ReadonlyMap<string, number>> {
  await readByIndexes(tx, 'for-values');
  const rows = await tx.$queryRaw<{ id: string; templates: number }[]>`
    SELECT id, (
      SELECT count(*)::int FROM (
        SELECT category_name FROM template
        WHERE tenant_id = category.tenant_id AND category_name >= category.name AND category_name <= category.name
          AND NOT is_gone
        ORDER BY category_name
      ) AS counted
    ) AS templates
    FROM template_category AS category
    WHERE tenant_id = ${tenantId}::uuid AND (${id ?? null}::uuid IS NULL OR id = ${id ?? null}::uuid)`;
  return new Map(rows.map((row) => [row.id, row.templates]));
}

/** Templates that are counted for the one who may not remove their category. */
const COUNTED_TEMPLATES_MAX = 1_000;

/** @throws Problem `category-in-use` */
async function requireNoTemplates(tx: Prisma.TransactionClient, tenantId: string, categoryName: string) {
  await readByIndexes(tx, 'for-values');
  const templates = await tx.$queryRaw<unknown[]>`
    SELECT 1 FROM template WHERE tenant_id = ${tenantId}::uuid AND category_name = ${categoryName}
    LIMIT ${COUNTED_TEMPLATES_MAX}`;
  if (templates.length > 0) throw categoryInUse(categoryName, templates.length, COUNTED_TEMPLATES_MAX);
}

/** Locks a category until the commit. */
async function hold(tx: Prisma.TransactionClient, tenantId: string, id: string): Promise<CategoryRow> {
  await tx.$queryRaw`SELECT 1 FROM template_category WHERE tenant_id = ${tenantId}::uuid AND id = ${id}::uuid FOR UPDATE`;
  const row = await tx.templateCategory.findUnique({ where: { tenantId_id: { tenantId, id } } });
  if (!row) throw categoryNotFound();
  return row;
}

const toData = ({ name, description, icon, sortOrder }: CategoryInput) => ({
  name,
  description: description ?? null,
  icon: icon ?? null,
  sortOrder,
});

/** Templates that one request can carry along: each is a row that is written. */
const RENAMED_TEMPLATES_MAX = 5_000;

/**
 * No template gets a category that is held, so that they stay as few.
 * @throws Problem `validation` where they are more
 */
async function requireFewTemplates(tx: Prisma.TransactionClient, tenantId: string, categoryName: string) {
  await readByIndexes(tx, 'for-values');
  const [one] = await tx.$queryRaw<unknown[]>`
    SELECT id FROM template WHERE tenant_id = ${tenantId}::uuid AND category_name = ${categoryName}
    LIMIT 1 OFFSET ${RENAMED_TEMPLATES_MAX}`;
  if (one) throw tooManyToRename(categoryName, RENAMED_TEMPLATES_MAX);
}

/** One writer at a time counts and adds, so that the quota is exact. @throws Problem `quota-exceeded` */
async function requireRoom(tx: Prisma.TransactionClient, tenantId: string): Promise<void> {
  await lockUntilCommit(tx, `${tenantId}/template-categories`);
  const used = await tx.templateCategory.count({ where: { tenantId } });
  if (used >= CATEGORIES_MAX) throw tooManyCategories(used);
}
