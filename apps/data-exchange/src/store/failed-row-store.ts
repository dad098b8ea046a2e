import type { TenantDatabase } from '@plinth/runtime/postgres/postgres';
import type { FailedRowWithCells } from '../domain/failed-row';
import type { Prisma } from '../generated/client';

export interface FailedRowPage {
  /** A row number. */
  after: number;
  take: number;
  /** Of what is read. */
  bytesMax: number;
  /** A report needs no cells. */
  withCells: boolean;
}

/** The failed rows of imports. */
export interface FailedRowStore {
  /** Failed rows after a row number, in their order: as many as fit in the bytes, and always one. */
  list(tenantId: string, jobId: string, page: FailedRowPage): Promise<FailedRowWithCells[]>;
}

export const failedRowStore = (db: TenantDatabase<Prisma.TransactionClient>): FailedRowStore => ({
  list: (tenantId, jobId, { after, take, bytesMax, withCells }) =>
    db.inTenant(tenantId, (tx) =>
      tx.$queryRawUnsafe<FailedRowWithCells[]>(
        `SELECT row_number AS "rowNumber", kind, details, ${withCells ? 'cells' : `'[]'::jsonb AS cells`}
         FROM (
           SELECT row_number, kind, details, cells, row_number() OVER (ORDER BY row_number) AS place,
                  sum(octet_length(details::text)${withCells ? ' + octet_length(cells::text)' : ''})
                    OVER (ORDER BY row_number) AS bytes
           FROM import_failed_row
           WHERE tenant_id = $1::uuid AND job_id = $2::uuid AND row_number > $3
           ORDER BY row_number LIMIT $4
         ) AS row
         WHERE place = 1 OR bytes <= $5 ORDER BY row_number`,
        tenantId,
        jobId,
        after,
        take,
        bytesMax,
      ),
    ),
});

/** Failed rows as they are stored. */
export const failedRowsJson = (rows: readonly FailedRowWithCells[]): string =>
  JSON.stringify(
    rows.map(({ rowNumber, kind, details, cells }) => [rowNumber, kind, details, cells.map(storable)]),
  );

/** Stores failed rows in the transaction that counts them; those that are stored already stay as they are. */
export async function insertFailedRows(
  tx: Prisma.TransactionClient,
  tenantId: string,
  jobId: string,
  json: string,
): Promise<void> {
  await tx.$executeRawUnsafe(
    `INSERT INTO import_failed_row (tenant_id, job_id, row_number, kind, details, cells)
     SELECT $1::uuid, $2::uuid, (r->>0)::int, r->>1, r->2, r->3 FROM jsonb_array_elements($3::jsonb) AS r
     ON CONFLICT DO NOTHING`,
    tenantId,
    jobId,
    json,
  );
}

/** jsonb accepts no NUL and no half of a surrogate pair; they are replaced by visible characters. */
const storable = (cell: string): string => cell.replaceAll('\0', '\u2400').toWellFormed();
