import type { PrismaPg } from '@prisma/adapter-pg';
import type { Caller } from '@plinth/kernel/caller';
import { newId } from '@plinth/kernel/uuid';
import type { TenantDatabase } from '@plinth/runtime/postgres/postgres';
import { aCaller } from '@plinth/testing/http';
import { firstRows } from '@plinth/testing/list-requests';
import { onTenantDatabase } from '@plinth/testing/on-tenant-database';
import { excessiveOf, readsUnderAllPlans, type TableRead } from '@plinth/testing/statement-plans';
import { createTestDatabase, type TestDatabase } from '@plinth/testing/test-database';
import type { FairPool } from '@plinth/runtime/postgres/fair-pool';
import { turnsAt } from '@plinth/runtime/process/fair-places';
import type { Client } from 'pg';
import { deleteDraft, publish, save, type Step, type Template } from '../src/domain/template';
import { PrismaClient, type Prisma } from '../src/generated/client';
import { categoryStore } from '../src/store/category-store';
import { removeSpareRevisions } from '../src/store/spare-revisions';
import { idsForSave, templateStore } from '../src/store/template-store';

type Database = TenantDatabase<Prisma.TransactionClient>;
const createClient = (adapter: PrismaPg) => new PrismaClient({ adapter });

const TEMPLATES = 20_000;
/** Of one template. */
const REVISIONS_KEPT = 500;
const at = new Date('2026-11-22T10:00:00Z');

/** Templates with a revision each, nearly all in one category, and one with as many revisions as are kept. */
async function fillTemplates(admin: Client, tenantId: string, count: number): Promise<void> {
  await admin.query(
    `INSERT INTO template_category (tenant_id, id, name) VALUES ($1, gen_random_uuid(), 'Letters'), ($1, gen_random_uuid(), 'Reports')`,
    [tenantId],
  );
  await admin.query(
    `INSERT INTO executed_operation (tenant_id, operation_id, result)
     SELECT $1, gen_random_uuid()::text, '{}' FROM generate_series(1, $2::int) AS n`,
    [tenantId, count],
  );
  await admin.query(
    `WITH saved AS (
       INSERT INTO template (tenant_id, id, name, category_name, draft_id, content)
       SELECT $1, gen_random_uuid(), 'letter-' || n, CASE WHEN n <= 3 THEN 'Reports' ELSE 'Letters' END,
         gen_random_uuid(), 'Dear Ada'
       FROM generate_series(1, $2::int) AS n RETURNING id, draft_id, name
     )
     INSERT INTO template_revision (tenant_id, id, template_id, number, status, mime_type, content, content_length,
       created_at, created_by)
     SELECT $1, CASE WHEN number = newest THEN draft_id ELSE gen_random_uuid() END, id, number,
       CASE WHEN number = newest THEN 0 ELSE 3 END, 'text/html', 'Dear Ada', 8, now(), 'ada'
     FROM saved, LATERAL (SELECT CASE name WHEN 'letter-17' THEN ${REVISIONS_KEPT} ELSE 1 END) AS last (newest),
       generate_series(1, newest) AS number`,
    [tenantId, count],
  );
}

/** Saves new templates and another one again, publishes that, and deletes its draft. */
async function saveTemplates(db: Database, pool: FairPool, caller: Caller, label: string): Promise<void> {
  const templates = templateStore(db, pool, { take: () => undefined, giveBackTaken: () => undefined });
  const change = (name: string, decide: (current: Template | undefined) => Step) =>
    templates.change({ ...caller, operationId: newId() }, { name, culture: undefined }, decide);
  const saving = (name: string, category?: string) => (current: Template | undefined) =>
    save(
      current,
      {
        name,
        culture: undefined,
        content: label,
        mimeType: undefined,
        category,
        requiresApproval: undefined,
      },
      idsForSave(),
      { caller, at },
    );
  const created = newId();
  for (const name of [created, created, 'letter-16'])
    await templates.create({ ...caller, operationId: newId() }, { name, culture: undefined }, saving(name));
  for (const name of [newId(), 'letter-17', 'letter-17']) await change(name, saving(name, 'Letters'));
  await change('letter-17', (current) => publish(current!, false, { caller, at }));
  await change('letter-17', saving('letter-17', 'Letters'));
  await change('letter-17', (current) => deleteDraft(current!, { caller, at }));
}

/**
 * Reads what requests read: templates by name, drafts and published ones, revisions, and pages of the list and of a
 * category. Other filters and the history's total read more, as many rows as they look through or count.
 */
async function readTemplates(db: Database, pool: FairPool, { tenantId }: Caller): Promise<void> {
  const templates = templateStore(db, pool, { take: () => undefined, giveBackTaken: () => undefined });
  const key = { name: 'letter-17', culture: undefined };
  const { draft, published } = await templates.get(tenantId, key);
  for (const choice of ['newest', 'published'] as const)
    expect(await templates.findNearest(tenantId, 'letter-17', 'fr-CA', choice)).toBeDefined();
  await templates.findNearest(tenantId, 'letter-18', undefined, 'newest');
  expect(await templates.findNearest(tenantId, newId(), 'fr-CA', 'newest')).toBeUndefined();
  await expect(templates.getNearest(tenantId, newId(), 'fr', 'published')).rejects.toThrow();
  await templates.getRevision(tenantId, 'letter-17', (draft ?? published)!.id);
  const newest = firstRows('lastModifiedAt');
  for (const category of [undefined, 'Letters', 'Reports']) {
    const which = { status: undefined, category, culture: undefined };
    const { rows } = await templates.list(tenantId, which, newest);
    const after = [rows[1]!.lastModifiedAt.toISOString(), rows[1]!.id];
    await templates.list(tenantId, which, { ...newest, after });
  }
}

/** Counts the templates of all categories, of one, and of one that is not deleted because it is used. */
async function countTemplates(db: Database, caller: Caller): Promise<void> {
  const categories = categoryStore(db, turnsAt(1));
  const [letters, reports] = await categories.all(caller.tenantId);
  expect(letters!.templateCount).toBeGreaterThan(1);
  expect((await categories.get(caller.tenantId, reports!.id)).templateCount).toBe(3);
  const removal = categories.remove({ ...caller, operationId: newId() }, reports!.id, undefined);
  await expect(removal).rejects.toThrow(/Reports/);
}

/** As many as one page of templates and one transaction that removes revisions ask for. */
const OF_A_PAGE = 1_000;

/** Templates of which many are gone. */
async function fillWithGone(admin: Client, tenantId: string, count: number): Promise<void> {
  await fillTemplates(admin, tenantId, count);
  await admin.query(
    `UPDATE template SET draft_id = NULL, is_gone = true WHERE tenant_id = $1 AND name ~ '[3-7]$'`,
    [tenantId],
  );
  await admin.query(
    `UPDATE template_revision AS r SET status = 3 FROM template AS t
     WHERE r.tenant_id = $1 AND t.tenant_id = $1 AND t.id = r.template_id AND t.is_gone`,
    [tenantId],
  );
}

/** Templates of which many have older revisions, and were imported. */
async function fillWithOlder(admin: Client, tenantId: string, count: number): Promise<void> {
  await fillTemplates(admin, tenantId, count);
  await admin.query(
    `INSERT INTO template_revision (tenant_id, id, template_id, number, status, mime_type, content, content_length,
       created_at, created_by)
     SELECT $1, gen_random_uuid(), id, 1000 + n, 3, 'text/html', 'Dear Ada', 8, now(), 'ada'
     FROM template, generate_series(1, 22) AS n WHERE tenant_id = $1 AND name ~ '3$'`,
    [tenantId],
  );
  await admin.query(
    `UPDATE template SET import_job_id = gen_random_uuid() WHERE tenant_id = $1 AND name ~ '3$'`,
    [tenantId],
  );
  await admin.query(
    `INSERT INTO exchange_former (tenant_id, row_id, job_id, import_row, former, former_transaction)
     SELECT $1, id, import_job_id, 2, jsonb_build_object('draft_id', gen_random_uuid()), '1' FROM template
     WHERE tenant_id = $1 AND import_job_id IS NOT NULL`,
    [tenantId],
  );
}

const isCount = ({ statement, table }: TableRead): boolean =>
  table === 'template' && statement.includes('AS counted');

describe('the statements that save and read templates', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase('template');
  });
  afterAll(() => database.drop());

  it('read no more rows than they are about, whatever the statistics know', async () => {
    const caller = aCaller();
    const reads = await readsUnderAllPlans(
      { ...database, fill: fillTemplates, isOfRequests: true },
      { id: caller.tenantId, rowCount: TEMPLATES },
      (pool, label) =>
        onTenantDatabase(pool, createClient, async (db) => {
          await saveTemplates(db, pool, caller, label);
          await readTemplates(db, pool, caller);
          await countTemplates(db, caller);
        }),
    );

    expect(
      excessiveOf(
        reads.filter((read) => !isCount(read)),
        1,
      ),
    ).toEqual([]);
    // A template has a text, so that its row is many times as large as its place in an index.
    const counted = reads.filter(isCount).map(({ access }) => access);
    expect([...new Set(counted)]).toEqual(['Index Only Scan template_in_category']);
  });

  it.each([
    ['of templates that are gone', fillWithGone],
    ['that are older than others', fillWithOlder],
  ])(
    'remove revisions %s without reading more than a page, whatever the statistics know',
    async (_of, fill) => {
      const { tenantId } = aCaller();
      const removed: number[] = [];
      const reads = await readsUnderAllPlans(
        { ...database, fill },
        { id: tenantId, rowCount: TEMPLATES },
        async (pool) => {
          let last = 0;
          await removeSpareRevisions(pool, tenantId, ({ revisions }) => (last = revisions) > 300);
          removed.push(last);
        },
      );

      expect(Math.min(...removed)).toBeGreaterThan(300);
      expect(excessiveOf(reads, OF_A_PAGE)).toEqual([]);
    },
  );
});
