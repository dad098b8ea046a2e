import { Client } from 'pg';
import { newId } from '@plinth/kernel/uuid';
import { aCaller } from '@plinth/testing/http';
import { published, startTemplates, type Templates } from './start-templates';

describe('tables of the template service', () => {
  let service: Templates;
  beforeAll(async () => {
    service = await startTemplates();
  });
  afterAll(() => service.close());

  it('show a tenant only its own rows, also to a query without a tenant', async () => {
    const caller = aCaller();
    await published(service.as(caller), { name: 'a' });
    await service.as(caller).post('/template-categories', { name: 'A' });

    const countsFor = (tenantId: string) =>
      service.db.inTenant(tenantId, async (tx) => [
        await tx.template.count({ where: {} }),
        await tx.templateRevision.count({ where: {} }),
        await tx.templateCategory.count({ where: {} }),
      ]);

    expect(await countsFor(caller.tenantId)).toEqual([1, 1, 1]);
    expect(await countsFor(newId())).toEqual([0, 0, 0]);
  });

  it('all have forced row-level security for reads and writes', async () => {
    const client = new Client({ connectionString: service.database!.adminUrl });
    await client.connect();
    const { rows } = await client.query(`
      SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = 'public' AND c.relkind = 'r' AND c.relname NOT LIKE '\\_prisma%' AND NOT (
        c.relrowsecurity AND c.relforcerowsecurity AND EXISTS (
          SELECT 1 FROM pg_policies p WHERE p.tablename = c.relname AND p.qual LIKE '%plinth.tenant_id%' AND p.with_check LIKE '%plinth.tenant_id%'))`);
    await client.end();

    expect(rows).toEqual([]);
  });

  it('allow one draft and one published revision of a template only', async () => {
    const caller = aCaller();
    await published(service.as(caller), { name: 'a' });

    const second = service.db.inTenant(caller.tenantId, (tx) =>
      tx.$executeRawUnsafe(`INSERT INTO template_revision SELECT tenant_id, gen_random_uuid(), template_id, 99, 2, mime_type, content,
        content_length, created_at, created_by, published_at, published_by FROM template_revision`),
    );

    await expect(second).rejects.toThrow(/template_revision_published|Unique/);
  });
});
