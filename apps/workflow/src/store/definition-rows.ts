import { createHash } from 'node:crypto';
import type { DefinitionScope } from '@plinth/contracts/workflow/shapes';
import { HOST_TENANT_ID } from '@plinth/kernel/caller';
import type { RawStatements } from '@plinth/runtime/postgres';
import type { Definition } from '../domain/definition';
import { builtInDefinitions } from '../machines/built-in';

/** A definition that applies, and where it comes from. */
export interface StoredDefinition {
  definition: Definition;
  version: number;
  scope: DefinitionScope;
  /** Null for what the platform was delivered with. */
  savedAt: Date | null;
  savedBy: string | null;
}

/** A version of a definition as it is kept; without a body the tenant went back to the platform's default. */
export interface Row {
  tenantId: string;
  entityType: string;
  version: number;
  body: unknown;
  savedAt: Date;
  savedBy: string;
}

/** The key of the lock under which moves and changes of one definition keep out of each other's way. */
export const definitionLock = (entityType: string): string =>
  createHash('sha256').update(`workflow-definition:${entityType}`).digest().readBigInt64BE().toString();

/** The newest rows that bear on an entity type. */
export interface Versions {
  entityType: string;
  own: Row | undefined;
  platform: Row | undefined;
}

/** Reads the newest rows of an entity type, the tenant's and the platform's. */
export async function readVersions(
  tx: RawStatements,
  tenantId: string,
  entityType: string,
): Promise<Versions> {
  const rows = await tx.$queryRawUnsafe<Row[]>(
    `SELECT DISTINCT ON (tenant_id) tenant_id AS "tenantId", entity_type AS "entityType", version, body,
            saved_at AS "savedAt", saved_by AS "savedBy"
     FROM definition WHERE tenant_id IN ($1::uuid, $2::uuid) AND entity_type = $3
     ORDER BY tenant_id, version DESC`,
    tenantId,
    HOST_TENANT_ID,
    entityType,
  );
  return latest(entityType, tenantId, rows);
}

/** The stamp alone, for who has read the rest already. */
export async function readStamp(tx: RawStatements, tenantId: string, entityType: string): Promise<string> {
  const [row] = await tx.$queryRawUnsafe<{ stamp: string }[]>(
    `SELECT coalesce(max(version) FILTER (WHERE tenant_id <> $2::uuid), 0) || '.' ||
            coalesce(max(version) FILTER (WHERE tenant_id = $2::uuid), 0) AS stamp
     FROM definition WHERE tenant_id IN ($1::uuid, $2::uuid) AND entity_type = $3`,
    tenantId,
    HOST_TENANT_ID,
    entityType,
  );
  return row!.stamp;
}

/** Changes whenever another definition applies. */
export const stampOf = ({ own, platform }: Versions): string =>
  `${own?.version ?? 0}.${platform?.version ?? 0}`;

/** Of rows that are the newest of their tenants, those that bear on an entity type. */
export const latest = (entityType: string, tenantId: string, rows: readonly Row[]): Versions => {
  const of = (owner: string) => rows.find((row) => row.entityType === entityType && row.tenantId === owner);
  return {
    entityType,
    own: tenantId === HOST_TENANT_ID ? undefined : of(tenantId),
    platform: of(HOST_TENANT_ID),
  };
};

/** The definition that applies to a tenant. */
export function effectiveOf(
  { entityType, own, platform }: Versions,
  tenantId: string,
): StoredDefinition | undefined {
  if (own?.body && own.tenantId === tenantId) return toStored(own);
  if (platform?.body) return toStored(platform);
  return toBuiltIn(entityType);
}

export const toBuiltIn = (entityType: string): StoredDefinition | undefined => {
  const definition = builtInDefinitions.get(entityType);
  return definition && { definition, version: 1, scope: 'Platform', savedAt: null, savedBy: null };
};

export const toStored = (row: Row): StoredDefinition => ({
  definition: row.body as Definition,
  version: row.version,
  scope: row.tenantId === HOST_TENANT_ID ? 'Platform' : 'Tenant',
  savedAt: row.savedAt,
  savedBy: row.savedBy,
});
