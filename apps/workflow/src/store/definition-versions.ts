import { hash } from 'node:crypto';
import { HOST_TENANT_ID } from '@plinth/kernel/caller';
import type { RawStatements } from '@plinth/runtime/postgres/postgres';
import { sql, type Sql } from '@plinth/runtime/postgres/raw-statements';
import type { Definition, DefinitionVersion } from '../domain/definition';
import { builtInDefinitions } from '../domain/definitions/built-in';

/** A version of a definition as it is stored; without a body the tenant went back to the platform's default. */
export interface DefinitionRow {
  tenantId: string;
  entityType: string;
  version: number;
  body: unknown;
  savedAt: Date;
  savedBy: string;
}

/**
 * The keys of the locks that keep moves out while the definition of their type changes: the platform's, which governs all
 * tenants, and the tenant's own, which is nobody else's concern. Whoever takes both takes them in this order.
 */
export const definitionLockKeys = (tenantId: string, entityType: string): [platform: string, own: string] => [
  lockKey(`workflow-definition:${entityType}`),
  lockKey(`workflow-definition:${tenantId}:${entityType}`),
];

const lockKey = (name: string): string => hash('sha256', name, 'buffer').readBigInt64BE().toString();

/** The newest rows that an entity type depends on. */
export interface NewestVersions {
  entityType: string;
  own: DefinitionRow | undefined;
  platform: DefinitionRow | undefined;
}

const NEWEST = `
  SELECT tenant_id, entity_type, max(version) AS version FROM definition
  WHERE tenant_id = ANY ($1::uuid[]) GROUP BY tenant_id, entity_type`;

const rowWith = (body: string): string =>
  `tenant_id AS "tenantId", entity_type AS "entityType", version, ${body}, saved_at AS "savedAt", saved_by AS "savedBy"`;
const ROW = rowWith('body');

/** The newest row of the type that `$2` names: the end of the index, however many versions are kept. */
const newestOf = (owner: string, row = ROW): string =>
  `(SELECT ${row} FROM definition WHERE tenant_id = ${owner}::uuid AND entity_type = $2
    ORDER BY version DESC LIMIT 1)`;

/** The newest rows of the type that `$2` names: those of the tenant `$1`, and the platform's. */
const SELECT_VERSIONS = `${newestOf('$1')} UNION ALL ${newestOf(`'${HOST_TENANT_ID}'`)}`;

const NO_VERSION = '0';

/**
 * Differs between any two versions: a replica of the database that took over may lack the latest one, and give its number
 * to another one that is saved later (ADR 0004).
 */
export const versionStampOf = (row: Pick<DefinitionRow, 'version' | 'savedAt'> | undefined): string =>
  row ? `${row.version}-${row.savedAt.getTime()}` : NO_VERSION;

const bodyBeyond = (knownVersion: string, knownSavedAt: string): string =>
  `CASE WHEN (version, saved_at) IS DISTINCT FROM (${knownVersion}::integer, ${knownSavedAt}::timestamptz) THEN body END
   AS body`;

/**
 * The same without the bodies of the versions that are known already: `$7`, saved at `$8`, of the tenant, and `$9`, saved
 * at `$10`, of the platform.
 */
export const SELECT_UNKNOWN_VERSIONS = `${newestOf('$1', rowWith(bodyBeyond('$7', '$8')))}
  UNION ALL ${newestOf(`'${HOST_TENANT_ID}'`, rowWith(bodyBeyond('$9', '$10')))}`;

/** Reads the newest rows of an entity type, the tenant's and the platform's. */
export async function readVersions(
  tx: RawStatements,
  tenantId: string,
  entityType: string,
): Promise<NewestVersions> {
  const rows = await tx.$queryRawUnsafe<DefinitionRow[]>(SELECT_VERSIONS, tenantId, entityType);
  return newestVersionsOf(entityType, tenantId, rows);
}

const member = (name: keyof Definition): string => `'${name}', body -> '${name}'`;
/** The JSON of a definition. */
const JSON_OF_BODY = `CASE WHEN body IS NOT NULL THEN jsonb_build_object(${[
  member('entityType'),
  member('initialState'),
  member('states'),
  member('finalStates'),
  member('transitions'),
].join()})::text END AS body`;

/**
 * Reads the newest rows of all entity types, the tenant's and the platform's, and not the bodies of earlier ones. Those that
 * it reads are JSON: a process that parsed and wrote megabytes of it would keep everybody waiting.
 */
export const readAllVersions = (tx: RawStatements, tenantId: string): Promise<DefinitionRow[]> =>
  tx.$queryRawUnsafe<DefinitionRow[]>(
    `SELECT ${rowWith(JSON_OF_BODY)} FROM definition JOIN (${NEWEST}) AS newest USING (tenant_id, entity_type, version)`,
    [tenantId, HOST_TENANT_ID],
  );

/** How many definitions a tenant has besides one, how large their newest versions are, and how large that one is. */
interface OwnSize {
  types: number;
  bytes: number;
  added: number;
}

/**
 * Measures what a tenant has of definitions besides one of a type, and that one. All are measured as lists show them:
 * Postgres writes blanks into JSON, which is a fifth of some definitions.
 */
export async function readOwnSize(
  tx: RawStatements,
  tenantId: string,
  definition: Definition,
): Promise<OwnSize> {
  const [row] = await tx.$queryRawUnsafe<OwnSize[]>(
    `SELECT count(body)::int AS types, coalesce(sum(octet_length(body::text)), 0)::int AS bytes,
            octet_length($3::jsonb::text) AS added
     FROM definition JOIN (${NEWEST}) AS newest USING (tenant_id, entity_type, version) WHERE entity_type <> $2`,
    [tenantId],
    definition.entityType,
    JSON.stringify(definition),
  );
  return row!;
}

/** Types of which a tenant withdrew its definition, and whose versions are kept. */
const WITHDRAWN_TYPES_MAX = 200;

/** Removes all versions of definitions that a tenant withdrew before so many others. */
export async function removeLongWithdrawn(tx: RawStatements, tenantId: string): Promise<void> {
  await tx.$queryRawUnsafe(
    `DELETE FROM definition WHERE tenant_id = ANY ($1::uuid[]) AND entity_type IN (
       SELECT entity_type FROM definition JOIN (${NEWEST}) AS newest USING (tenant_id, entity_type, version)
       WHERE body IS NULL ORDER BY saved_at DESC, entity_type OFFSET ${WITHDRAWN_TYPES_MAX})`,
    [tenantId],
  );
}

/** Changes whenever another definition applies. */
export const stampOf = ({ own, platform }: NewestVersions): string =>
  `${versionStampOf(own)}.${versionStampOf(platform)}`;

/** Whether the definition with a stamp still applies. */
export const isStampOf = (tenantId: string, entityType: string, stamp: string): Sql => {
  const [own, platform] = stamp.split('.');
  const isNewest = (owner: string, versionStamp = NO_VERSION): Sql => {
    const ofOwner = sql`FROM definition WHERE tenant_id = ${owner}::uuid AND entity_type = ${entityType}`;
    if (versionStamp === NO_VERSION) return sql`NOT EXISTS (SELECT ${ofOwner})`;
    const [version, savedAt] = versionStamp.split('-').map(Number);
    return sql`
      (SELECT (version, saved_at) = (${version}::integer, ${new Date(savedAt!)}::timestamptz)
       ${ofOwner} ORDER BY version DESC LIMIT 1)`;
  };
  return tenantId === HOST_TENANT_ID
    ? isNewest(HOST_TENANT_ID, platform)
    : sql`${isNewest(tenantId, own)} AND ${isNewest(HOST_TENANT_ID, platform)}`;
};

/** Of rows that are the newest of their tenants, those of an entity type. */
export const newestVersionsOf = (
  entityType: string,
  tenantId: string,
  rows: readonly DefinitionRow[],
): NewestVersions => {
  const of = (owner: string) => rows.find((row) => row.entityType === entityType && row.tenantId === owner);
  return {
    entityType,
    own: tenantId === HOST_TENANT_ID ? undefined : of(tenantId),
    platform: of(HOST_TENANT_ID),
  };
};

/** The definition that applies to a tenant. */
export function effectiveDefinition(
  versions: NewestVersions,
  tenantId: string,
): DefinitionVersion | undefined {
  const row = effectiveRow(versions, tenantId);
  return row ? toVersion(row) : builtInVersion(versions.entityType);
}

/** The same, where it is stored. */
export const effectiveRow = (
  { own, platform }: NewestVersions,
  tenantId: string,
): DefinitionRow | undefined =>
  [own?.tenantId === tenantId ? own : undefined, platform].find((row) => row?.body);

export const builtInVersion = (entityType: string): DefinitionVersion | undefined => {
  const definition = builtInDefinitions.get(entityType);
  return definition && { definition, version: 1, scope: 'Platform', savedAt: null, savedBy: null };
};

export const toVersion = (row: DefinitionRow): DefinitionVersion => ({
  definition: row.body as Definition,
  version: row.version,
  scope: row.tenantId === HOST_TENANT_ID ? 'Platform' : 'Tenant',
  savedAt: row.savedAt,
  savedBy: row.savedBy,
});
