import { OWN_DEFINITION_BYTES_MAX, OWN_DEFINITIONS_MAX } from '@plinth/contracts/workflow/shapes';
import { HOST_TENANT_ID, isOfHost, type Caller } from '@plinth/kernel/caller';
import {
  entityTag,
  hashedEntityTag,
  requirePrecondition,
  type Precondition,
} from '@plinth/kernel/entity-tag';
import { lockUntilCommit } from '@plinth/runtime/postgres/lock';
import type { TenantDatabase } from '@plinth/runtime/postgres/postgres';
import { findOperation, runOnce } from '@plinth/runtime/postgres/run-once';
import type { FairPlaces } from '@plinth/runtime/process/fair-places';
import type { Definition, DefinitionVersion } from '../domain/definition';
import { builtInDefinitions } from '../domain/definitions/built-in';
import { definitionsTooLarge, tooManyDefinitions } from '../domain/problems';
import { requireNoneStranded, statesWithout } from '../domain/states-in-use';
import { publishDefinitionChanged } from '../events/published';
import { Prisma } from '../generated/client';
import {
  definitionLockKeys,
  effectiveDefinition,
  effectiveRow,
  newestVersionsOf,
  readAllVersions,
  readOwnSize,
  removeLongWithdrawn,
  readVersions,
  builtInVersion,
  toVersion,
  type DefinitionRow,
  type NewestVersions,
} from './definition-versions';
import {
  beginningOfOpenTransactions,
  countStatesEnteredSince,
  countStatesInUse,
  isCountedSince,
  type Governed,
} from './states-in-use';

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
    condition: { precondition: Precondition; now: Date; validate: () => void },
  ): Promise<{ saved: DefinitionVersion; isNew: boolean }>;
  /** Goes back to the platform's default; returns whether there was anything to withdraw. */
  withdraw(
    caller: Caller,
    entityType: string,
    condition: { precondition: Precondition; now: Date },
  ): Promise<boolean>;
}

/** What the platform was delivered with is its first version, and another one in another release. */
export function tagOf({ definition, scope, version, savedAt }: DefinitionVersion): string {
  const name = `${scope.toLowerCase()}-${version}`;
  return savedAt ? entityTag(name) : hashedEntityTag(JSON.stringify([name, definition]));
}

interface DefinitionChange<Result> {
  caller: Caller;
  entityType: string;
  precondition: Precondition;
  /** What applies afterwards; undefined where nothing changes. */
  nextOf: (versions: NewestVersions) => Pick<Definition, 'states'> | undefined;
  work: (tx: Tx, versions: NewestVersions, stranded: ReadonlyMap<string, number>) => Promise<Result>;
}

/** Ends a transaction whose change needs entities counted; it is begun again in a place for that. */
class NeedsCounting extends Error {
  constructor() {
    super('Entities are counted in a place for that only.');
  }
}

/** @param countings the places in which entities are counted, since Postgres reads all of a tenant for that */
export function definitionStore(db: TenantDatabase<Tx>, countings: FairPlaces): DefinitionStore {
  /**
   * Locks the type, so that no entity of it moves between the check and the new definition. Entities are counted before,
   * while they move: a definition that strands some is refused without keeping anybody waiting, and behind the lock only
   * those are counted that moved meanwhile.
   * @throws NeedsCounting where entities are to be counted without a place for that, and nothing else refuses it
   */
  const changeOnce = <Result>(
    mayCount: boolean,
    { caller, entityType, precondition, nextOf, work }: DefinitionChange<Result>,
  ): Promise<Result> =>
    db.inTenant(caller.tenantId, async (tx) => {
      const { tenantId } = caller;
      const read = async (since?: Date) => {
        const versions = await readVersions(tx, tenantId, entityType);
        const none = { versions, stranded: new Map<string, number>() };
        const current = effectiveDefinition(versions, tenantId);
        const next = nextOf(versions);
        const states = next ? statesToCount(current?.definition, next) : [];
        if (!next || states?.length === 0) return none;
        if (!mayCount) {
          if (await findOperation(tx, caller)) return none;
          requirePrecondition(precondition, current && tagOf(current));
          throw new NeedsCounting();
        }
        const stranded = await countStranded(tx, { tenantId, entityType, states }, next, since);
        return { versions, stranded };
      };
      const since = await beginningOfOpenTransactions(tx);
      const before = await read();
      if (before.stranded.size > 0) return work(tx, before.versions, before.stranded);
      await lockDefinition(tx, caller, entityType);
      const isCounted = await isCountedSince(tx, tenantId, entityType, since);
      const { versions, stranded } = await read(isCounted ? since : undefined);
      return work(tx, versions, stranded);
    });

  const change = async <Result>(changing: DefinitionChange<Result>): Promise<Result> => {
    try {
      return await changeOnce(false, changing);
    } catch (error) {
      if (!(error instanceof NeedsCounting)) throw error;
      return countings.run(changing.caller, () => changeOnce(true, changing));
    }
  };

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

    save: (caller, definition, { precondition, now, validate }) =>
      change({
        caller,
        entityType: definition.entityType,
        precondition,
        nextOf: () => definition,
        work: async (tx, versions, stranded) => {
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
            requirePrecondition(precondition, current && tagOf(current));
            requireNoneStranded(entityType, stranded);
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
        },
      }),

    withdraw: (caller, entityType, { precondition, now }) =>
      change({
        caller,
        entityType,
        precondition,
        nextOf: (versions) => definitionBehind(versions, caller),
        work: (tx, versions, stranded) =>
          runOnce(tx, caller, async () => {
            const { tenantId, userId } = caller;
            const current = effectiveDefinition(versions, tenantId);
            const own = ownRow(versions, caller);
            if (!current || !own?.body) return false;
            requirePrecondition(precondition, tagOf(current));
            requireNoneStranded(entityType, stranded);
            const row = { tenantId, entityType, version: own.version + 1, savedAt: now, savedBy: userId };
            await tx.definition.create({ data: { ...row, body: Prisma.DbNull } });
            if (!isOfHost(caller)) {
              await lockUntilCommit(tx, definitionsOf(tenantId));
              await removeLongWithdrawn(tx, tenantId);
            }
            await publishDefinitionChanged(tx, caller, row, true);
            return true;
          }),
      }),
  };
}

const ownRow = ({ own, platform }: NewestVersions, caller: Caller): DefinitionRow | undefined =>
  isOfHost(caller) ? platform : own;

/** What applies once a caller's own definition is withdrawn, with no states where there is nothing; undefined without one. */
function definitionBehind(versions: NewestVersions, caller: Caller): Pick<Definition, 'states'> | undefined {
  if (!ownRow(versions, caller)?.body) return undefined;
  const behind = isOfHost(caller)
    ? builtInDefinitions.get(versions.entityType)
    : effectiveDefinition({ ...versions, own: undefined }, caller.tenantId)?.definition;
  return behind ?? { states: [] };
}

/**
 * The states in which entities may be that a next definition does not have: those that the current one loses. Of a type that
 * none defines their owner may have moved them anywhere, which is null.
 */
const statesToCount = (
  current: Pick<Definition, 'states'> | undefined,
  next: Pick<Definition, 'states'>,
): string[] | null => (current ? statesWithout(current.states, next) : null);

/**
 * How many entities are in states that a next definition does not have, by state.
 * @param since counts only entities that may have changed since this time
 */
async function countStranded(
  tx: Tx,
  governed: Governed,
  next: Pick<Definition, 'states'>,
  since?: Date,
): Promise<ReadonlyMap<string, number>> {
  const used = await (since ? countStatesEnteredSince(tx, governed, since) : countStatesInUse(tx, governed));
  return new Map(statesWithout(used.keys(), next).map((state) => [state, used.get(state)!]));
}

function jsonOfBuiltIn(entityType: string): DefinitionVersion<string> | undefined {
  const version = builtInVersion(entityType);
  return version && { ...version, definition: JSON.stringify(version.definition) };
}

/** Behind one who waits for the platform's lock all moves of the type wait, also for a transaction that does not end. */
const PLATFORM_LOCK_MILLISECONDS_MAX = '2000';

/** A tenant's own definition changes beside everything that other tenants do; the platform's beside nothing. */
async function lockDefinition(tx: Tx, caller: Caller, entityType: string): Promise<void> {
  const [platform, own] = definitionLockKeys(caller.tenantId, entityType);
  if (isOfHost(caller)) {
    await tx.$queryRaw`SELECT set_config('lock_timeout', ${PLATFORM_LOCK_MILLISECONDS_MAX}, true)`;
    await tx.$queryRaw`SELECT pg_advisory_xact_lock(${platform}::bigint)::text`;
    await tx.$queryRaw`SELECT set_config('lock_timeout', '0', true)`;
  } else
    await tx.$queryRaw`
      SELECT pg_advisory_xact_lock_shared(${platform}::bigint)::text, pg_advisory_xact_lock(${own}::bigint)::text`;
}

const definitionsOf = (tenantId: string): string => `${tenantId}/workflow-definitions`;

/**
 * One writer at a time counts and adds, so that the quotas are exact: the lock of a type keeps out only those of the
 * same. @throws Problem `quota-exceeded`
 */
async function requireRoom(tx: Tx, tenantId: string, definition: Definition): Promise<void> {
  await lockUntilCommit(tx, definitionsOf(tenantId));
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
