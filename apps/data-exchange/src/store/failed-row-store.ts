import type { TenantDatabase } from '@plinth/runtime/postgres/postgres';
import type { FailedRowWithCells } from '../domain/failed-row';
import type { Prisma } from '../generated/client';

/** The failed rows of imports. */
export interface FailedRowStore {
  /** Failed rows after a row number, in their order. */
  list(tenantId: string, jobId: string, after: number, take: number): Promise<FailedRowWithCells[]>;
}

export const failedRowStore = (db: TenantDatabase<Prisma.TransactionClient>): FailedRowStore => ({
  list: (tenantId, jobId, after, take) =>
    db.inTenant(tenantId, async (tx) => {
      const rows = await tx.importFailedRow.findMany({
        where: { tenantId, jobId, rowNumber: { gt: after } },
        orderBy: { rowNumber: 'asc' },
        take,
      });
      return rows.map(({ rowNumber, kind, details, cells }) => ({
        rowNumber,
        kind: kind as FailedRowWithCells['kind'],
        details: details as unknown as FailedRowWithCells['details'],
        cells: cells as string[],
      }));
    }),
});

/** Stores failed rows in the transaction that counts them; those that are stored already stay as they are. */
export const insertFailedRows = (
  tx: Prisma.TransactionClient,
  tenantId: string,
  jobId: string,
  rows: readonly FailedRowWithCells[],
): Promise<number> =>
  tx.$executeRawUnsafe(
    `INSERT INTO import_failed_row (tenant_id, job_id, row_number, kind, details, cells)
     SELECT $1::uuid, $2::uuid, (r->>0)::int, r->>1, r->2, r->3 FROM jsonb_array_elements($3::jsonb) AS r
     ON CONFLICT DO NOTHING`,
    tenantId,
    jobId,
    JSON.stringify(
      rows.map(({ rowNumber, kind, details, cells }) => [rowNumber, kind, details, cells.map(storable)]),
    ),
  );

/** jsonb accepts no NUL and no half of a surrogate pair; they are replaced by visible characters. */
const storable = (cell: string): string => cell.replaceAll('\0', '\u2400').toWellFormed();
