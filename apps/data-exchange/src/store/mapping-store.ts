import type { TenantDatabase } from '@plinth/runtime/postgres/postgres';
import type { ColumnMapping } from '../domain/mapping';
import type { Prisma } from '../generated/client';

/** Of one definition in a tenant. */
const MAPPINGS_KEPT = 200;

/** Confirmed mappings that are suggested again for files with the same header. */
export interface MappingStore {
  get(tenantId: string, definitionName: string, headerHash: string): Promise<ColumnMapping[]>;
}

/** Mappings and the header of the files that they are suggested for. */
export interface SavedMapping {
  definitionName: string;
  headerHash: string;
  mappings: readonly ColumnMapping[];
}

export const mappingStore = (db: TenantDatabase<Prisma.TransactionClient>): MappingStore => ({
  get: (tenantId, definitionName, headerHash) =>
    db.inTenant(tenantId, async (tx) => {
      const row = await tx.savedMapping.findUnique({
        where: { tenantId_definitionName_headerHash: { tenantId, definitionName, headerHash } },
      });
      return (row?.mappings ?? []) as unknown as ColumnMapping[];
    }),
});

/** Saves mappings in a running transaction; forgets those that were saved longest ago, where there are too many. */
export async function saveMapping(
  tx: Prisma.TransactionClient,
  tenantId: string,
  { definitionName, headerHash, mappings }: SavedMapping,
): Promise<void> {
  const key = { tenantId, definitionName, headerHash };
  const data = { mappings: mappings as unknown as Prisma.InputJsonValue, savedAt: new Date() };
  await tx.savedMapping.upsert({
    where: { tenantId_definitionName_headerHash: key },
    create: { ...key, ...data },
    update: data,
  });
  await tx.$executeRaw`
    DELETE FROM saved_mapping
    WHERE tenant_id = ${tenantId}::uuid AND definition_name = ${definitionName} AND header_hash = ANY (ARRAY(
      SELECT header_hash FROM saved_mapping
      WHERE tenant_id = ${tenantId}::uuid AND definition_name = ${definitionName}
      ORDER BY saved_at DESC, header_hash OFFSET ${MAPPINGS_KEPT}::integer LIMIT 10))`;
}
