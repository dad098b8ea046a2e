import { newId } from '@plinth/kernel/uuid';
import { createPool } from '@plinth/runtime/postgres/postgres';
import { silentLog } from '@plinth/runtime/process/log';
import { createTestDatabase } from '@plinth/testing/test-database';
import { Client } from 'pg';
import { JOB_BATCH_SIZE } from '../src/store/job-records';
import { overdueJobStore } from '../src/store/overdue-job-store';

describe('overdue jobs', () => {
  it('are started in turns of their tenants, the oldest of each first', async () => {
    const database = await createTestDatabase('data-exchange');
    const admin = new Client({ connectionString: database.adminUrl });
    await admin.connect();
    const addImports = (tenantId: string, count: number) =>
      admin.query(
        `INSERT INTO import_job (tenant_id, id, definition_name, permission, original_file_name, mime_type,
           file_size_bytes, sha256, blob_key, format, status, options, created_by, created_at, started_at)
         SELECT $1, uuidv7(), 'Shop.Articles', 'Shop', 'a.csv', 'text/csv', 1, '', '', '{}', 'Executing', '{}', 'ada',
           now(), now() - n * interval '1 hour' FROM generate_series(1, $2::int) AS n`,
        [tenantId, count],
      );
    const [many, few] = [newId(), newId()];
    await addImports(many, JOB_BATCH_SIZE + 20);
    await addImports(few, 3);
    const pool = createPool(database.url, silentLog());

    const listed = await overdueJobStore(pool).list(new Date());

    expect(listed).toHaveLength(JOB_BATCH_SIZE);
    const place = (index: number) => listed.slice(2 * index, 2 * index + 2).map(({ tenantId }) => tenantId);
    for (const index of [0, 1, 2]) expect(place(index).toSorted()).toEqual([many, few].toSorted());
    const { rows } = await admin.query(
      'SELECT id FROM import_job WHERE tenant_id = $1 ORDER BY started_at LIMIT 1',
      [many],
    );
    expect(listed.find(({ tenantId }) => tenantId === many)!.id).toBe(rows[0].id);
    await pool.end();
    await admin.end();
    await database.drop();
  });
});
