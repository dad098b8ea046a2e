import { OWN_DEFINITION_BYTES_MAX, OWN_DEFINITIONS_MAX } from '@plinth/contracts/workflow/shapes';
import { HOST_TENANT_ID, isOfHost, type Caller } from '@plinth/kernel/caller';
import { entityTag, requireMatch, type IfMatch } from '@plinth/kernel/entity-tag';
import { lockUntilCommit } from '@plinth/runtime/postgres/lock';
import type { TenantDatabase } from '@plinth/runtime/postgres/postgres';
import { runOnce } from '@plinth/runtime/postgres/run-once';
import type { Definition, DefinitionVersion } from '../domain/definition';
import { builtInDefinitions } from '../domain/definitions/built-in';
import { definitionsTooLarge, tooManyDefinitions } from '../domain/problems';
import { requireStatesStillUsed } from '../domain/states-in-use';
import { publishDefinitionChanged } from '../events/published';
import { Prisma } from '../generated/client';
import {
  definitionLockKeys,
  effectiveDefinition,
  effectiveRow,
  newestVersionsOf,
  readAllVersions,
  readOwnSize,
  readVersions,
  builtInVersion,
  toVersion,
  type NewestVersions,
} from './definition-versions';
import { countStatesInUse } from './states-in-use';

type Tx = Prisma.TransactionClient;

export interface DefinitionStore {
  /** The tenant's own definition, else the platform's; `version` asks for an earlier one of the same scope. */
  find(tenantId: string, entityType: string, version?: number): Promise<DefinitionVersion | undefined>;
  /** All that apply to the tenant, by entity type, each as JSON. */
  all(tenantId: string): Promise<DefinitionVersion<string>[]>;
  /**
   * Saves a new version: the platform's for callers of the host tenant, else the tenant's own. `validate` is called
   * last: a caller who removes a state in use learns that first, and not that others cannot be reached without it.
   */
  save(
    caller: Caller,
    definition: Definition,
    condition: { ifMatch: IfMatch; now: Date; validate: () => void },
  ): Promise<{ saved: DefinitionVersion; isNew: boolean }>;
  /** Goes back to the platform's default; returns whether there was anything to withdraw. */
  withdraw(caller: Caller, entityType: string, condition: { ifMatch: IfMatch; now: Date }): Promise<boolean>;
}

export const tagOf = ({ scope, version }: DefinitionVersion): string =>
  entityTag(`${scope.toLowerCase()}-${version}`);

export function definitionStore(db: TenantDatabase<Tx>): DefinitionStore {
  /** Locks the type, so that no entity of it moves between the check and the new definition. */
  const change = <Result>(
    caller: Caller,
    entityType: string,
    work: (tx: Tx, versions: NewestVersions) => Promise<Result>,
  ): Promise<Result> =>
    db.inTenant(caller.tenantId, async (tx) => {
      await lockDefinition(tx, caller, entityType);
      return work(tx, await readVersions(tx, caller.tenantId, entityType));
    });
  const changeOnce: typeof change = (caller, entityType, work) =>
    change(caller, entityType, (tx, versions) => runOnce(tx, caller, () => work(tx, versions)));

  return {
    find: (tenantId, entityType, version) =>
      db.inTenant(tenantId, async (tx) => {
        const current = effectiveDefinition(await readVersions(tx, tenantId, entityType), tenantId);
        if (!current || version === undefined || version === current.version) return current;
        return version < current.version ? findEarlier(tx, tenantId, current, version) : undefined;
      }),

    all: (tenantId) =>
      db.inTenant(tenantId, async (tx) => {
        const rows = await readAllVersions(tx, tenantId);
        const types = new Set([...builtInDefinitions.keys(), ...rows.map(({ entityType }) => entityType)]);
        return [...types]
          .sort()
          .map((type) => {
            const row = effectiveRow(newestVersionsOf(type, tenantId, rows), tenantId);
            return row ? { ...toVersion(row), definition: row.body as string } : jsonOfBuiltIn(type);
          })
          .filter((found) => found !== undefined);
      }),

    save: (caller, definition, { ifMatch, now, validate }) =>
      change(caller, definition.entityType, async (tx, versions) => {
        const { tenantId, userId } = caller;
        const { entityType } = definition;
        const row = {
          tenantId,
          entityType,
          version: nextVersion(versions, tenantId),
          body: definition as unknown as Prisma.InputJsonObject,
          savedAt: now,
          savedBy: userId,
        };
        const { version, isNew } = await runOnce(tx, caller, async () => {
          const current = effectiveDefinition(versions, tenantId);
          requireMatch(ifMatch, current && tagOf(current));
          requireStatesStillUsed(definition, await countStatesInUse(tx, tenantId, entityType));
          validate();
          if (!isOfHost(caller)) await requireRoom(tx, tenantId, definition);
          await tx.definition.create({ data: row });
          await removeOldVersions(tx, row);
          await publishDefinitionChanged(tx, caller, row, false);
          return { version: row.version, isNew: current === undefined };
        });
        if (version === row.version) return { saved: toVersion(row), isNew };
        // Of a retry; there may be newer versions.
        const key = { tenantId, entityType, version };
        const saved = await tx.definition.findUnique({ where: { tenantId_entityType_version: key } });
        return { saved: toVersion(saved ?? { ...row, version }), isNew };
      }),

    withdraw: (caller, entityType, { ifMatch, now }) =>
      changeOnce(caller, entityType, async (tx, versions) => {
        const { tenantId, userId } = caller;
        const current = effectiveDefinition(versions, tenantId);
        const own = isOfHost(caller) ? versions.platform : versions.own;
        if (!current || !own?.body) return false;
        requireMatch(ifMatch, tagOf(current));
        const fallback = isOfHost(caller)
          ? builtInDefinitions.get(entityType)
          : effectiveDefinition({ ...versions, own: undefined }, tenantId)?.definition;
        const left = fallback ?? { ...current.definition, states: [] };
        requireStatesStillUsed(left, await countStatesInUse(tx, tenantId, entityType));
        const row = { tenantId, entityType, version: own.version + 1, savedAt: now, savedBy: userId };
        await tx.definition.create({ data: { ...row, body: Prisma.DbNull } });
        await publishDefinitionChanged(tx, caller, row, true);
        return true;
      }),
  };
}

function jsonOfBuiltIn(entityType: string): DefinitionVersion<string> | undefined {
  const version = builtInVersion(entityType);
  return version && { ...version, definition: JSON.stringify(version.definition) };
}

/** A tenant's own definition changes beside everything that other tenants do; the platform's beside nothing. */
async function lockDefinition(tx: Tx, caller: Caller, entityType: string): Promise<void> {
  const [platform, own] = definitionLockKeys(caller.tenantId, entityType);
  if (isOfHost(caller)) await tx.$queryRaw`SELECT pg_advisory_xact_lock(${platform}::bigint)::text`;
  else
    await tx.$queryRaw`
      SELECT pg_advisory_xact_lock_shared(${platform}::bigint)::text, pg_advisory_xact_lock(${own}::bigint)::text`;
}

/**
 * One writer at a time counts and adds, so that the quotas are exact: the lock of a type keeps out only those of the
 * same. @throws Problem `quota-exceeded`
 */
async function requireRoom(tx: Tx, tenantId: string, definition: Definition): Promise<void> {
  await lockUntilCommit(tx, `${tenantId}/workflow-definitions`);
  const { types, bytes, added } = await readOwnSize(tx, tenantId, definition);
  if (types >= OWN_DEFINITIONS_MAX) throw tooManyDefinitions(types);
  if (bytes + added > OWN_DEFINITION_BYTES_MAX) throw definitionsTooLarge(bytes);
}

/** Versions that a tenant keeps of the definition of one type. The platform keeps all of its own. */
const VERSIONS_KEPT = 500;

async function removeOldVersions(
  tx: Tx,
  { tenantId, entityType, version }: { tenantId: string; entityType: string; version: number },
): Promise<void> {
  if (tenantId === HOST_TENANT_ID || version <= VERSIONS_KEPT) return;
  await tx.definition.deleteMany({
    where: { tenantId, entityType, version: { lte: version - VERSIONS_KEPT } },
  });
}

/** What the platform was delivered with is its first version. */
function nextVersion({ entityType, own, platform }: NewestVersions, tenantId: string): number {
  if (tenantId !== HOST_TENANT_ID) return (own?.version ?? 0) + 1;
  return (platform?.version ?? (builtInDefinitions.has(entityType) ? 1 : 0)) + 1;
}

async function findEarlier(
  tx: Tx,
  tenantId: string,
  { scope, definition: { entityType } }: DefinitionVersion,
  version: number,
): Promise<DefinitionVersion | undefined> {
  const owner = scope === 'Platform' ? HOST_TENANT_ID : tenantId;
  const row = await tx.definition.findUnique({
    where: { tenantId_entityType_version: { tenantId: owner, entityType, version } },
  });
  if (row?.body) return toVersion(row);
  return scope === 'Platform' && version === 1 && !row ? builtInVersion(entityType) : undefined;
}
