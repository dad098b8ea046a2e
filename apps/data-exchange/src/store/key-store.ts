import { inTenantConnection } from '@plinth/runtime/postgres/postgres';
import type { FairPool } from '@plinth/runtime/postgres/fair-pool';
import type { ImportAttempt, QuotaOfImport } from '@plinth/http/row-quota';
import type { QueryConfig } from 'pg';
import { requireStored } from '../domain/lost-progress';
import { duplicatesNotFound, tooManyKeys, tooManyKeysInFile } from '../domain/problems';
import { DUPLICATE_BYTES, KEY_BYTES } from './key-quota';

/** A row, and the hash of its key as 32 hex digits. */
export type RowKey = [rowNumber: number, hash: string];
/** A row, and the first row of the file that has the same key. */
export type Duplicate = [rowNumber: number, firstRow: number];

/** The keys of all rows of a file, and the rows with duplicate keys. */
export interface KeyStore {
  /**
   * Stores the keys of a batch, once however often it is repeated.
   * @throws Problem `invalid` where the tenant has no room for them
   */
  insert(
    tenantId: string,
    jobId: string,
    range: number,
    batch: number,
    keys: readonly RowKey[],
  ): Promise<void>;
  /** The batch of a range up to which the keys of all are stored. */
  lastBatch(tenantId: string, jobId: string, range: number): Promise<number>;
  /**
   * Finds the rows with duplicate keys, and deletes the keys. When `signal` aborts, the statement ends. Returns how many rows
   * there are, also where they were found before.
   * @param options.batches of so many batches at least the keys have to be stored
   * @throws Problem that does not pass where that takes more than it may; LostProgress where there are fewer batches, as
   *   also where nobody learned that the duplicates were found, and the keys are gone
   */
  findDuplicates(
    tenantId: string,
    jobId: string,
    options?: { signal?: AbortSignal; batches?: number | undefined },
  ): Promise<number>;
  /** The duplicates among rows of the file, both ends included. */
  listDuplicates(tenantId: string, jobId: string, firstRow: number, lastRow: number): Promise<Duplicate[]>;
  delete(tenantId: string, jobId: string): Promise<void>;
}

/** So many keys are sorted in less than the time and the room on the disk that one statement may take. */
const KEYS_MAX = 100_000_000;

/**
 * Without Prisma: it cannot express these statements, and its transactions are shorter than sorting ten million keys.
 * @param quota of the bytes of a tenant
 * @param keysMax of one file
 */
export function keyStore(
  pool: FairPool,
  quota: { forImport(attempt: ImportAttempt): Pick<QuotaOfImport, 'tryTake' | 'whenKnown'> },
  keysMax: number = KEYS_MAX,
): KeyStore {
  const query = async <Row extends object>(
    tenantId: string,
    text: string,
    values: unknown[],
  ): Promise<Row[]> =>
    (await inTenantConnection(pool, tenantId, (connection) => connection.query<Row>(text, values))).rows;

  return {
    async insert(tenantId, jobId, range, batch, keys) {
      const bytes = keys.length * KEY_BYTES;
      const room = quota.forImport({ jobId });
      await room.whenKnown(tenantId, bytes);
      await inTenantConnection(pool, tenantId, async (connection) => {
        const { rowCount } = await connection.query(
          `INSERT INTO import_key (tenant_id, job_id, range, batch, row_numbers, hashes)
           VALUES ($1, $2, $3, $4, $5::int[], $6::uuid[]) ON CONFLICT DO NOTHING`,
          [tenantId, jobId, range, batch, keys.map(([row]) => row), keys.map(([, hash]) => hash)],
        );
        if (rowCount === 1 && !room.tryTake(tenantId, bytes)) throw tooManyKeys();
      });
    },

    async lastBatch(tenantId, jobId, range) {
      const [row] = await query<{ last: number | null }>(tenantId, LAST_BATCH, [tenantId, jobId, range]);
      return row?.last ?? 0;
    },

    async findDuplicates(tenantId, jobId, { signal, batches } = {}) {
      const job = [tenantId, jobId];
      // How many it finds is not known before.
      const room = quota.forImport({ jobId });
      await room.whenKnown(tenantId, Infinity);
      return inTenantConnection(pool, tenantId, async (connection) => {
        await connection.query(LONG_STATEMENTS);
        const { rows } = await connection.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
        let cancelled: Promise<unknown> | undefined;
        // A connection that is only closed is still waited for where its statements are sent together.
        const cancel = () => {
          cancelled = query(tenantId, 'SELECT pg_cancel_backend($1)', [rows[0]!.pid]).catch(() => undefined);
        };
        signal?.addEventListener('abort', cancel, { once: true });
        try {
          signal?.throwIfAborted();
          const counted = await connection.query<StoredKeys>(long(COUNT_KEYS, job));
          const stored = counted.rows[0]!;
          requireStored('batches of keys', stored.batches, batches);
          if (stored.keys > keysMax) throw tooManyKeysInFile(keysMax);
          signal?.throwIfAborted();
          const { rowCount } = await connection.query(long(FIND_DUPLICATES, job));
          signal?.throwIfAborted();
          const found = rowCount ?? 0;
          if (found > 0 && !room.tryTake(tenantId, found * DUPLICATE_BYTES)) throw tooManyKeys();
          await connection.query(long('DELETE FROM import_key WHERE tenant_id = $1 AND job_id = $2', job));
          const added = await connection.query<{ duplicates: number }>(ADD_DUPLICATES, [...job, found]);
          return added.rows[0]?.duplicates ?? 0;
        } catch (error) {
          throw !signal?.aborted && isBeyondLimits(error) ? duplicatesNotFound(error) : error;
        } finally {
          signal?.removeEventListener('abort', cancel);
          // Once others have the connection, it would end a statement of theirs.
          await cancelled;
        }
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
          await connection.query(
            long(`DELETE FROM ${table} WHERE tenant_id = $1 AND job_id = $2`, [tenantId, jobId]),
          );
        await connection.query(FORGET_DUPLICATES, [tenantId, jobId]);
      });
    },
  };
}

/** Of a large file, whose rows are as many. */
const LONG_MINUTES = 30;
const LONG_STATEMENTS = `SET LOCAL statement_timeout = '${LONG_MINUTES}min'; SET LOCAL client_connection_check_interval = '1s'`;
/** The connection's own timer, which knows only how long a request may take, ends later than the server's. */
const LONG_SILENCE_MILLISECONDS = (LONG_MINUTES + 1) * 60_000;

/** A statement behind `LONG_STATEMENTS` that may take as long. */
const long = (text: string, values: unknown[]): QueryConfig =>
  ({ text, values, query_timeout: LONG_SILENCE_MILLISECONDS }) as QueryConfig;

/** Its time was over, or what one connection may take of the disk to sort. */
const isBeyondLimits = (error: unknown): boolean =>
  ['57014', '53400'].includes(String((error as { code?: unknown }).code));

/** A read that only seemed dead may have stored one behind those that are deleted since. */
const LAST_BATCH = `
  SELECT max(batch) AS last FROM (
    SELECT batch, row_number() OVER (ORDER BY batch) AS position
    FROM import_key WHERE tenant_id = $1 AND job_id = $2 AND range = $3
  ) AS stored WHERE batch = position`;

interface StoredKeys {
  keys: number;
  batches: number;
}

const COUNT_KEYS = `
  SELECT coalesce(sum(cardinality(hashes)), 0)::float8 AS keys, count(*)::int AS batches
  FROM import_key WHERE tenant_id = $1 AND job_id = $2`;

/** To those found before, whose keys are deleted: where nobody learned of that, it is repeated and finds none. */
const ADD_DUPLICATES = `
  UPDATE import_job SET duplicate_rows = duplicate_rows + $3 WHERE tenant_id = $1 AND id = $2
  RETURNING duplicate_rows AS duplicates`;

const FORGET_DUPLICATES = `
  UPDATE import_job SET duplicate_rows = 0 WHERE tenant_id = $1 AND id = $2 AND duplicate_rows > 0`;

const FIND_DUPLICATES = `
  INSERT INTO import_duplicate (tenant_id, job_id, row_number, first_row)
  SELECT $1, $2, row_number, first_row FROM (
    SELECT row_number, min(row_number) OVER (PARTITION BY hash) AS first_row
    FROM import_key, unnest(row_numbers, hashes) AS k (row_number, hash)
    WHERE tenant_id = $1 AND job_id = $2
  ) AS keyed
  WHERE row_number > first_row ON CONFLICT DO NOTHING`;
