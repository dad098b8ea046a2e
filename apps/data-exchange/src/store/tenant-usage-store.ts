import type { TenantDatabase } from '@plinth/runtime/postgres/postgres';
import type { TenantUsage } from '../domain/tenant-quota';
import type { Prisma } from '../generated/client';

export interface TenantUsageStore {
  of(tenantId: string): Promise<TenantUsage>;
}

export const tenantUsageStore = (db: TenantDatabase<Prisma.TransactionClient>): TenantUsageStore => ({
  of: (tenantId) =>
    db.inTenant(tenantId, async (tx) => {
      const [row] = await tx.$queryRaw<{ bytes: bigint; oldest: Date | null; jobs: bigint }[]>`
        SELECT coalesce(sum(bytes) FILTER (WHERE is_stored), 0)::bigint AS bytes,
               min(created_at) FILTER (WHERE is_stored) AS oldest,
               count(*) FILTER (WHERE is_unfinished) AS jobs
        FROM (
          SELECT file_size_bytes AS bytes, created_at, file_removed_at IS NULL AS is_stored,
                 status = 'Executing' AS is_unfinished
          FROM import_job WHERE tenant_id = ${tenantId}::uuid
          UNION ALL
          SELECT file_size_bytes, created_at, file_size_bytes IS NOT NULL AND file_removed_at IS NULL,
                 status NOT IN ('Completed', 'Failed')
          FROM export_job WHERE tenant_id = ${tenantId}::uuid
        ) AS job WHERE is_stored OR is_unfinished`;
      return {
        fileBytes: Number(row!.bytes),
        oldestFileAt: row!.oldest,
        unfinishedJobs: Number(row!.jobs),
      };
    }),
});
