import type { TenantDatabase } from '@plinth/runtime/postgres/postgres';
import type { Prisma } from '../generated/client';

/** How many jobs one run of a background task handles. */
export const JOB_BATCH_SIZE = 100;

interface JobTable {
  updateMany(change: { where: object; data: object }): Promise<unknown>;
}

/** What background tasks record of the jobs of a table. */
export function jobRecords(
  db: TenantDatabase<Prisma.TransactionClient>,
  tableOf: (tx: Prisma.TransactionClient) => JobTable,
  idColumn: 'id' | 'jobId' = 'id',
) {
  const update = async (tenantId: string, id: string, data: object): Promise<void> => {
    await db.inTenant(tenantId, (tx) =>
      tableOf(tx).updateMany({ where: { tenantId, [idColumn]: id }, data }),
    );
  };
  return {
    recordStart: (tenantId: string, id: string, at: Date) => update(tenantId, id, { startedAt: at }),
    recordFileRemoval: (tenantId: string, id: string, at: Date) =>
      update(tenantId, id, { fileRemovedAt: at }),
  };
}
