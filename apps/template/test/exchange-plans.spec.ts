import { excessiveReads, rowId } from '@plinth/testing/exchange-plans';
import { grpcServices } from '../src/grpc/server';
import { startTemplates, type Templates } from './start-templates';

describe('imports, exports and undos of templates', () => {
  let template: Templates;
  beforeAll(async () => {
    template = await startTemplates();
  });
  afterAll(() => template.close());

  it('read no more templates and revisions than they are asked for, whatever the statistics know', async () => {
    const excessive = await excessiveReads({
      database: { url: template.databaseUrl, adminUrl: template.database!.adminUrl },
      definition: 'Templates.Templates',
      columns: ['name', 'culture', 'content'],
      keysChange: false,
      optionalKey: 'culture',
      cellsOf: (number, text) => [`invoice-${number}`, 'fr', text],
      fill: async (admin, tenantId, rowCount) => {
        await admin.query(
          `INSERT INTO template (tenant_id, id, name, culture, draft_id)
           SELECT $1, ${rowId.sql}, 'invoice-' || n, 'fr', ${rowId.sql} FROM generate_series(1, $2::int) AS n`,
          [tenantId, rowCount],
        );
        await admin.query(
          `INSERT INTO template_revision
             (tenant_id, id, template_id, number, status, mime_type, content, content_length, created_at, created_by)
           SELECT $1, ${rowId.sql}, ${rowId.sql}, 1, 0, 'text/html', 'Hello', 5, now(), 'somebody'
           FROM generate_series(1, $2::int) AS n`,
          [tenantId, rowCount],
        );
      },
      services: (pool) => grpcServices({ ...template, bulkPool: pool }),
    });

    expect(excessive).toEqual([]);
  });
});
