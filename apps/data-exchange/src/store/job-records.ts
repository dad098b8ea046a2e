import type { TenantDatabase } from '@plinth/runtime/postgres/postgres';
import { readByIndexes } from '@plinth/runtime/postgres/read-by-indexes';
import type { Prisma } from '../generated/client';

/** How many jobs one run of a background task handles. */
export const JOB_BATCH_SIZE = 100;

interface JobTable {
  updateMany(change: { where: object; data: object }): Promise<unknown>;
}

interface RemovableJobTable {
  findMany(query: {
    where: object;
    select: { tenantId: true; id: true };
    orderBy: { createdAt?: 'asc'; id?: 'asc' }[];
    take: number;
  }): Promise<JobName[]>;
  deleteMany(selection: { where: object }): Promise<unknown>;
}

interface JobName {
  tenantId: string;
  id: string;
}

export interface JobRetention {
  /** Jobs of all tenants that ended, were made before this time and have nothing left that is removed before them. */
  listExpired(madeBefore: Date): Promise<JobName[]>;
  remove(tenantId: string, id: string): Promise<void>;
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

/** How jobs of a table are forgotten. @param ended selects those that have nothing left to be removed before them */
export const jobRetention = (
  db: TenantDatabase<Prisma.TransactionClient>,
  tableOf: (tx: Prisma.TransactionClient) => RemovableJobTable,
  ended: object,
): JobRetention => ({
  listExpired: (madeBefore) =>
    db.inPlatform(async (tx) => {
      await readByIndexes(tx, 'for-values');
      return tableOf(tx).findMany({
        where: { ...ended, createdAt: { lt: madeBefore } },
        select: { tenantId: true, id: true },
        orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
        take: JOB_BATCH_SIZE,
      });
    }),

  remove: async (tenantId, id) => {
    await db.inTenant(tenantId, (tx) => tableOf(tx).deleteMany({ where: { tenantId, id } }));
  },
});
