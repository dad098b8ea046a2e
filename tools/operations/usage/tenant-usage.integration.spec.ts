import { randomBytes } from 'node:crypto';
import { newId } from '@plinth/kernel/uuid';
import { createTestDatabase, type TestDatabase } from '@plinth/testing/test-database';
import pg from 'pg';
import { readTenantUsage } from './tenant-usage';

describe('what tenants store', () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createTestDatabase('data-exchange');
  });
  afterAll(() => database.drop());

  const addUpload = async (tenantId: string, bytes: number, removedAt: Date | null = null) => {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    try {
      await client.query('BEGIN');
      await client.query(`SELECT set_config('plinth.scope', 'platform', true)`);
      await client.query(
        `INSERT INTO import_job (tenant_id, id, definition_name, original_file_name, mime_type, file_size_bytes, sha256,
           blob_key, format, options, status, created_by, created_at, permission, file_removed_at)
         VALUES ($1, $2, 'A.B', $3, 'text/csv', $4, 'x', 'key', '{}', '{}', 'Created', 'ada', now(), 'A.B.C', $5)`,
        [tenantId, newId(), randomBytes(500).toString('hex'), bytes, removedAt],
      );
      await client.query('COMMIT');
    } finally {
      await client.end();
    }
  };

  it('is counted for each of them, files that are gone left out', async () => {
    const [large, small] = [newId(), newId()];
    await addUpload(small, 10);
    await addUpload(large, 5_000_000);
    await addUpload(large, 7_000_000);
    await addUpload(large, 9_000_000, new Date());

    const usage = await readTenantUsage('data-exchange', database.adminUrl);

    expect(usage.map(({ tenantId, fileBytes }) => [tenantId, fileBytes])).toEqual([
      [large, 12_000_000],
      [small, 10],
    ]);
    expect(usage[1]!.rowBytes).toBeGreaterThan(1_000);
    expect(usage[0]!.rowBytes).toBeGreaterThan(2 * usage[1]!.rowBytes);
  });

  it('holds the rows that a service sees for one tenant at a time', async () => {
    const tenantId = newId();
    await addUpload(tenantId, 10);
    const rowBytes = async () => {
      const usage = await readTenantUsage('data-exchange', database.adminUrl);
      return usage.find((found) => found.tenantId === tenantId)!.rowBytes;
    };
    const before = await rowBytes();

    const client = new pg.Client({ connectionString: database.adminUrl });
    await client.connect();
    await client.query(
      `INSERT INTO import_failed_part (tenant_id, job_id, last_row, row_count, details, cells)
       SELECT tenant_id, id, 2, 1, $2, '[]' FROM import_job WHERE tenant_id = $1`,
      [tenantId, randomBytes(5_000).toString('hex')],
    );
    await client.end();

    expect(await rowBytes()).toBeGreaterThan(before + 5_000);
    await expect(readTenantUsage('data-exchange', database.url)).rejects.toThrow('BYPASSRLS');
  });
});
