import type { SettingScope } from '@plinth/contracts/settings/shapes';
import { HOST_TENANT_ID } from '@plinth/kernel/caller';
import type { RawStatements } from '@plinth/runtime/postgres/postgres';
import { empty, join, sql, type Sql } from '@plinth/runtime/postgres/raw-statements';
import { levelsAbove, type Level } from '../domain/level';
import type { Snapshot, StoredLevel } from '../domain/snapshot';

interface Stored {
  scope: string;
  name: string;
  /** Null for what is locked, or sealed. */
  value: string | null;
}

export type LevelsByScope = Partial<Record<SettingScope, Level>>;
export type StoredLevels<Levels extends LevelsByScope> = Record<keyof Levels, StoredLevel>;

/** What is stored at these levels, in one statement: of all settings, or of one. */
export async function readLevels<Levels extends LevelsByScope>(
  tx: RawStatements,
  levels: Levels,
  name?: string,
): Promise<StoredLevels<Levels>> {
  const named = name === undefined ? empty : sql`AND name = ${name}`;
  const read = Object.values(levels);
  const rows = await query(
    tx,
    read.map((level) => valuesAt(level, named)),
    read.flatMap((level) => locksAt(level, named)),
    [sealedNames(named)],
  );
  const sealed = namesIn(rows, SEALED);
  const storedAt = ({ scope }: Level): StoredLevel => ({
    values: new Map(
      rows.flatMap((row) => (row.scope === scope && row.value !== null ? [[row.name, row.value]] : [])),
    ),
    locked: namesIn(rows, scope),
    sealed,
  });
  return Object.fromEntries(read.map((level) => [level.scope, storedAt(level)])) as StoredLevels<Levels>;
}

/** What is locked for the users of a tenant, and the values of which settings are sealed. */
export async function readRules(
  tx: RawStatements,
  tenantId: string,
): Promise<Pick<Snapshot, 'locked' | 'sealed'>> {
  const { tenant, global } = levelsAbove(tenantId);
  const rows = await query(tx, locksAt(tenant, empty), locksAt(global, empty), [sealedNames(empty)]);
  return {
    locked: { tenant: namesIn(rows, tenant.scope), global: namesIn(rows, global.scope) },
    sealed: namesIn(rows, SEALED),
  };
}

const SEALED = 'sealed';

const valuesAt = ({ tenantId, scope, userId }: Level, named: Sql): Sql => sql`
  SELECT scope, name, value FROM setting_value
  WHERE tenant_id = ${tenantId}::uuid AND scope = ${scope} AND user_id = ${userId} ${named}`;

/** Users have nobody below them. */
const locksAt = ({ tenantId, scope }: Level, named: Sql): Sql[] =>
  scope === 'user'
    ? []
    : [
        sql`SELECT scope, name, NULL AS value FROM setting_lock
          WHERE tenant_id = ${tenantId}::uuid AND scope = ${scope} ${named}`,
      ];

/** A version before may have changed one of the two. */
const sealedNames = (named: Sql): Sql => sql`
  SELECT ${SEALED}, name, NULL FROM setting_definition
  WHERE tenant_id = ${HOST_TENANT_ID}::uuid AND (is_secret OR is_sealed) ${named}`;

/** The names that are locked at a level, or sealed. */
const namesIn = (rows: readonly Stored[], scope: string): ReadonlySet<string> =>
  new Set(rows.filter((row) => row.scope === scope && row.value === null).map(({ name }) => name));

function query(tx: RawStatements, ...parts: Sql[][]): Promise<Stored[]> {
  const { text, values } = join(parts.flat(), ' UNION ALL ');
  return tx.$queryRawUnsafe<Stored[]>(text, ...values);
}
