import type { TenantDatabase } from '@plinth/runtime/postgres/postgres';
import type { ColumnMapping } from '../domain/mapping';
import type { Prisma } from '../generated/client';

/** Confirmed mappings that are suggested again for files with the same header. */
export interface MappingStore {
  get(tenantId: string, definitionName: string, headerHash: string): Promise<ColumnMapping[]>;
  save(
    tenantId: string,
    definitionName: string,
    headerHash: string,
    mappings: readonly ColumnMapping[],
  ): Promise<void>;
}

export const mappingStore = (db: TenantDatabase<Prisma.TransactionClient>): MappingStore => ({
  get: (tenantId, definitionName, headerHash) =>
    db.inTenant(tenantId, async (tx) => {
      const row = await tx.savedMapping.findUnique({
        where: { tenantId_definitionName_headerHash: { tenantId, definitionName, headerHash } },
      });
      return (row?.mappings ?? []) as unknown as ColumnMapping[];
    }),

  save: (tenantId, definitionName, headerHash, mappings) =>
    db.inTenant(tenantId, async (tx) => {
      const key = { tenantId, definitionName, headerHash };
      const data = { mappings: mappings as unknown as Prisma.InputJsonValue, savedAt: new Date() };
      await tx.savedMapping.upsert({
        where: { tenantId_definitionName_headerHash: key },
        create: { ...key, ...data },
        update: data,
      });
    }),
});
