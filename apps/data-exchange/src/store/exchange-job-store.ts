import type { ExchangeJobKind } from '@plinth/contracts/data-exchange/shapes';
import type { ListRequest } from '@plinth/http/paging';
import { totalCountOf } from '@plinth/http/total-count';
import { malformed } from '@plinth/kernel/problem';
import { parseTimestamp, type Filter } from '@plinth/kernel/list-query';
import type { RawStatements, TenantDatabase } from '@plinth/runtime/postgres/postgres';

/** An import, export or undo, as far as operators see it. */
export interface ExchangeJob {
  kind: ExchangeJobKind;
  id: string;
  tenantId: string;
  definitionName: string;
  status: string;
  rowsDone: number;
  rowsFailed: number;
  createdAt: Date;
  completedAt: Date | null;
  progressAt: Date | null;
  errorMessage: string | null;
}

export interface ExchangeJobStore {
  /** The jobs of all tenants. */
  list(list: ListRequest): Promise<{ rows: ExchangeJob[]; totalCount: number | null }>;
}

// An import may wait for long before it is executed, and whoever undoes it asks for that long afterwards.
const JOBS = `
  SELECT 'Import' AS kind, id, tenant_id, definition_name, status, total_rows AS rows_done,
         failed_rows AS rows_failed, created_at, completed_at,
         greatest(executed_at, progress_at) AS progress_at, error_message
    FROM import_job
  UNION ALL
  SELECT 'Export', id, tenant_id, definition_name, status, rows_done, 0, created_at, completed_at, progress_at,
         error_message
    FROM export_job
  UNION ALL
  SELECT 'Undo', import_undo.job_id, import_undo.tenant_id, import_job.definition_name, import_undo.status,
         removed_rows + restored_rows + gone_rows, kept_rows, requested_at, import_undo.completed_at,
         greatest(requested_at, import_undo.progress_at), import_undo.error_message
    FROM import_undo
    JOIN import_job ON import_job.tenant_id = import_undo.tenant_id AND import_job.id = import_undo.job_id`;

const WANTED = `($1::text[] IS NULL OR kind = ANY ($1)) AND ($2::text[] IS NULL OR status = ANY ($2))
   AND ($3::uuid[] IS NULL OR tenant_id = ANY ($3))`;

export const exchangeJobStore = (db: TenantDatabase<RawStatements>): ExchangeJobStore => ({
  list: (list) =>
    db.inPlatform(async (tx) => {
      const { filters, sort, after, limit, offset } = list;
      const wanted = ['kind', 'status', 'tenantId'].map((field) => valuesOf(filters, field));
      const totalCount = await totalCountOf(list, async (first) => {
        const [total] = await tx.$queryRawUnsafe<{ count: number }[]>(
          `SELECT count(*)::integer AS count
             FROM (SELECT FROM (${JOBS}) AS job WHERE ${WANTED} LIMIT $4::integer) AS counted`,
          ...wanted,
          first ?? null,
        );
        return total!.count;
      });
      const isDescending = sort[0]!.descending;
      const [order, behind] = isDescending ? ['DESC', '<'] : ['ASC', '>'];
      const rows = await tx.$queryRawUnsafe<ExchangeJob[]>(
        `SELECT kind, id::text AS id, tenant_id::text AS "tenantId", definition_name AS "definitionName", status,
                rows_done AS "rowsDone", rows_failed AS "rowsFailed", created_at AS "createdAt",
                completed_at AS "completedAt", progress_at AS "progressAt", error_message AS "errorMessage"
           FROM (${JOBS}) AS job
          WHERE ${WANTED} AND ($4::timestamptz IS NULL OR (created_at, id) ${behind} ($4::timestamptz, $5::uuid))
          ORDER BY created_at ${order}, id ${order} LIMIT $6::integer OFFSET $7::integer`,
        ...wanted,
        ...(after ? readKey(after) : [null, null]),
        limit,
        offset,
      );
      return { rows, totalCount };
    }),
});

/** The values that every filter of a field allows; null where there is none. */
function valuesOf(filters: readonly Filter[], field: string): string[] | null {
  const allowed = filters.filter((filter) => filter.field === field).map(({ values }) => values.map(String));
  if (allowed.length === 0) return null;
  return allowed.reduce((some, others) => some.filter((value) => others.includes(value)));
}

function readKey(key: readonly unknown[]): [Date, string] {
  const [createdAt, id] = key;
  if (key.length !== 2 || typeof createdAt !== 'string' || typeof id !== 'string')
    throw malformed('The cursor was made for a list with another sort order.');
  return [parseTimestamp(createdAt)!, id];
}
