import { inTenantConnection } from '@plinth/runtime/postgres';
import type { Pool } from 'pg';

/** A row, and 32 hex digits that stand for its key. */
export type RowKey = [rowNumber: number, hash: string];
/** A row, and the first row of the file that has the same key. */
export type Duplicate = [rowNumber: number, firstRow: number];

/** The keys of all rows of a file, and which of them repeat. */
export interface KeyStore {
  /** Keeps the keys of a batch; the same batch may come again. */
  keep(tenantId: string, jobId: string, range: number, batch: number, keys: readonly RowKey[]): Promise<void>;
  /** The last batch of a range whose keys are kept. */
  lastBatch(tenantId: string, jobId: string, range: number): Promise<number>;
  /** Finds the rows whose key stands in an earlier row, and forgets the keys. */
  findDuplicates(tenantId: string, jobId: string): Promise<void>;
  /** Those among rows of the file, both ends included. */
  duplicates(tenantId: string, jobId: string, firstRow: number, lastRow: number): Promise<Duplicate[]>;
  /** Nobody asks for them any more. */
  forget(tenantId: string, jobId: string): Promise<void>;
}

/** Without Prisma: it has no words for this, and its transactions are shorter than sorting ten million keys. */
export function keyStore(pool: Pool): KeyStore {
  const query = async <Row extends object>(
    tenantId: string,
    text: string,
    values: unknown[],
  ): Promise<Row[]> =>
    (await inTenantConnection(pool, tenantId, (connection) => connection.query<Row>(text, values))).rows;

  return {
    async keep(tenantId, jobId, range, batch, keys) {
      await query(
        tenantId,
        `INSERT INTO import_key (tenant_id, job_id, range, batch, row_numbers, hashes)
         VALUES ($1, $2, $3, $4, $5::int[], $6::uuid[]) ON CONFLICT DO NOTHING`,
        [tenantId, jobId, range, batch, keys.map(([row]) => row), keys.map(([, hash]) => hash)],
      );
    },

    async lastBatch(tenantId, jobId, range) {
      const [row] = await query<{ last: number | null }>(
        tenantId,
        'SELECT max(batch) AS last FROM import_key WHERE tenant_id = $1 AND job_id = $2 AND range = $3',
        [tenantId, jobId, range],
      );
      return row?.last ?? 0;
    },

    async findDuplicates(tenantId, jobId) {
      await inTenantConnection(pool, tenantId, async (connection) => {
        await connection.query(`SET LOCAL statement_timeout = '30min'`);
        await connection.query(FIND_DUPLICATES, [tenantId, jobId]);
        await connection.query('DELETE FROM import_key WHERE tenant_id = $1 AND job_id = $2', [
          tenantId,
          jobId,
        ]);
      });
    },

    async duplicates(tenantId, jobId, firstRow, lastRow) {
      const rows = await query<{ row_number: number; first_row: number }>(
        tenantId,
        `SELECT row_number, first_row FROM import_duplicate
         WHERE tenant_id = $1 AND job_id = $2 AND row_number BETWEEN $3 AND $4`,
        [tenantId, jobId, firstRow, lastRow],
      );
      return rows.map(({ row_number, first_row }) => [row_number, first_row]);
    },

    async forget(tenantId, jobId) {
      for (const table of ['import_key', 'import_duplicate'])
        await query(tenantId, `DELETE FROM ${table} WHERE tenant_id = $1 AND job_id = $2`, [tenantId, jobId]);
    },
  };
}

const FIND_DUPLICATES = `
  INSERT INTO import_duplicate (tenant_id, job_id, row_number, first_row)
  SELECT $1, $2, row_number, first_row FROM (
    SELECT row_number, min(row_number) OVER (PARTITION BY hash) AS first_row
    FROM import_key, unnest(row_numbers, hashes) AS k (row_number, hash)
    WHERE tenant_id = $1 AND job_id = $2
  ) AS keyed
  WHERE row_number > first_row ON CONFLICT DO NOTHING`;
