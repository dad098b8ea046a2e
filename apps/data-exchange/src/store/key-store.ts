import { inTenantConnection } from '@plinth/runtime/postgres/postgres';
import type { FairPool } from '@plinth/runtime/postgres/fair-pool';

/** A row, and the hash of its key as 32 hex digits. */
export type RowKey = [rowNumber: number, hash: string];
/** A row, and the first row of the file that has the same key. */
export type Duplicate = [rowNumber: number, firstRow: number];

/** The keys of all rows of a file, and the rows with duplicate keys. */
export interface KeyStore {
  /** Stores the keys of a batch, once however often it is repeated. */
  insert(
    tenantId: string,
    jobId: string,
    range: number,
    batch: number,
    keys: readonly RowKey[],
  ): Promise<void>;
  /** The last batch of a range whose keys are stored. */
  lastBatch(tenantId: string, jobId: string, range: number): Promise<number>;
  /** Finds the rows with duplicate keys, and deletes the keys. */
  findDuplicates(tenantId: string, jobId: string): Promise<void>;
  /** The duplicates among rows of the file, both ends included. */
  listDuplicates(tenantId: string, jobId: string, firstRow: number, lastRow: number): Promise<Duplicate[]>;
  delete(tenantId: string, jobId: string): Promise<void>;
}

/** Without Prisma: it cannot express these statements, and its transactions are shorter than sorting ten million keys. */
export function keyStore(pool: FairPool): KeyStore {
  const query = async <Row extends object>(
    tenantId: string,
    text: string,
    values: unknown[],
  ): Promise<Row[]> =>
    (await inTenantConnection(pool, tenantId, (connection) => connection.query<Row>(text, values))).rows;

  return {
    async insert(tenantId, jobId, range, batch, keys) {
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
        await connection.query(LONG_STATEMENTS);
        await connection.query(FIND_DUPLICATES, [tenantId, jobId]);
        await connection.query('DELETE FROM import_key WHERE tenant_id = $1 AND job_id = $2', [
          tenantId,
          jobId,
        ]);
      });
    },

    async listDuplicates(tenantId, jobId, firstRow, lastRow) {
      const rows = await query<{ row_number: number; first_row: number }>(
        tenantId,
        `SELECT row_number, first_row FROM import_duplicate
         WHERE tenant_id = $1 AND job_id = $2 AND row_number BETWEEN $3 AND $4`,
        [tenantId, jobId, firstRow, lastRow],
      );
      return rows.map(({ row_number, first_row }) => [row_number, first_row]);
    },

    async delete(tenantId, jobId) {
      await inTenantConnection(pool, tenantId, async (connection) => {
        await connection.query(LONG_STATEMENTS);
        for (const table of ['import_key', 'import_duplicate'])
          await connection.query(`DELETE FROM ${table} WHERE tenant_id = $1 AND job_id = $2`, [
            tenantId,
            jobId,
          ]);
      });
    },
  };
}

/** Of a large file, whose rows are as many. */
const LONG_STATEMENTS = `SET LOCAL statement_timeout = '30min'`;

const FIND_DUPLICATES = `
  INSERT INTO import_duplicate (tenant_id, job_id, row_number, first_row)
  SELECT $1, $2, row_number, first_row FROM (
    SELECT row_number, min(row_number) OVER (PARTITION BY hash) AS first_row
    FROM import_key, unnest(row_numbers, hashes) AS k (row_number, hash)
    WHERE tenant_id = $1 AND job_id = $2
  ) AS keyed
  WHERE row_number > first_row ON CONFLICT DO NOTHING`;
