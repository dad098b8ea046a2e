import { REPORT_ERROR_GROUPS_MAX, REPORT_GROUPED_ERRORS_MAX } from '@plinth/contracts/data-exchange/shapes';
import type { TenantDatabase } from '@plinth/runtime/postgres/postgres';
import type { ErrorGroup, ErrorGroups } from '../domain/error-groups';
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
  /** What is wrong with them, counted by the database up to `REPORT_GROUPED_ERRORS_MAX` errors. */
  groups(tenantId: string, jobId: string): Promise<ErrorGroups>;
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

  groups: async (tenantId, jobId) => {
    const rows = await db.inTenant(tenantId, (tx) =>
      tx.$queryRawUnsafe<(ErrorGroup & { rows: number })[]>(
        // Each part stops at the limit: a row may have hundreds of errors, and a job may have millions of rows.
        `WITH error AS (
           SELECT row_number, kind, place, detail->>'column' AS "column", detail->>'code' AS code
           FROM (
             SELECT row_number, kind, details FROM import_failed_row
             WHERE tenant_id = $1::uuid AND job_id = $2::uuid ORDER BY row_number LIMIT $3
           ) AS row, jsonb_array_elements(details) WITH ORDINALITY AS element (detail, place)
           LIMIT $3
         ), error_group AS (
           SELECT kind, "column", code, count(*)::int AS count, min(row_number) AS first,
                  (sum(count(*) FILTER (WHERE place = 1)) OVER ())::int AS rows
           FROM error GROUP BY kind, "column", code
           ORDER BY count DESC, first LIMIT $4
         )
         SELECT g.kind, g.count, g.rows, (
           SELECT detail FROM import_failed_row AS row, jsonb_array_elements(row.details) AS detail
           WHERE tenant_id = $1::uuid AND job_id = $2::uuid AND row_number = g.first
             AND detail->>'column' IS NOT DISTINCT FROM g."column" AND detail->>'code' = g.code
           LIMIT 1
         ) AS example
         FROM error_group AS g ORDER BY g.count DESC, g.first`,
        tenantId,
        jobId,
        REPORT_GROUPED_ERRORS_MAX,
        REPORT_ERROR_GROUPS_MAX,
      ),
    );
    return {
      rows: rows[0]?.rows ?? 0,
      groups: rows.map(({ kind, count, example }) => ({ kind, count, example })),
    };
  },
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
