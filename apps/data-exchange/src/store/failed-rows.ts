import type { Prisma } from '../generated/client';
import type { StoredFailedRow } from './import-store';

/** Keeps what could not be imported; rows that are kept already stay as they are. */
export const keepFailedRows = (
  tx: Prisma.TransactionClient,
  tenantId: string,
  jobId: string,
  rows: readonly StoredFailedRow[],
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

/** jsonb takes no NUL and no half of a surrogate pair; what a file holds of them is shown as what it is. */
const storable = (cell: string): string => cell.replaceAll('\0', '\u2400').toWellFormed();
