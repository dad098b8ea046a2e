import { HOST_TENANT_ID } from '@plinth/kernel/caller';
import type { RawStatements } from '@plinth/runtime/postgres/postgres';
import { empty, sql, type Sql } from '@plinth/runtime/postgres/raw-statements';
import type { LockedSettings, Snapshot } from '../domain/snapshot';

/** What is set with a definition, whatever this process knows of it: it is read together with the values. */
type StoredSettings = Pick<Snapshot, 'locked' | 'sealed'> & { values: Omit<Snapshot['values'], 'config'> };

interface Stored {
  scope: string;
  name: string;
  /** Null for what is locked, or sealed. */
  value: string | null;
}

/** What is stored that concerns one user, in one statement: of all settings, or of one. */
export async function readStoredSettings(
  tx: RawStatements,
  { tenantId, userId }: { tenantId: string; userId: string },
  name?: string,
): Promise<StoredSettings> {
  const named = name === undefined ? empty : sql`AND name = ${name}`;
  const valuesOf = (tenant: string, scope: Sql, user: Sql) => sql`
    SELECT scope, name, value FROM setting_value
    WHERE tenant_id = ${tenant}::uuid AND scope = ${scope} AND user_id = ${user} ${named}`;
  const rows = await query(
    tx,
    sql`${valuesOf(HOST_TENANT_ID, sql`'global'`, sql`''`)}
      UNION ALL ${valuesOf(tenantId, sql`'tenant'`, sql`''`)}
      UNION ALL ${valuesOf(tenantId, sql`'user'`, sql`${userId}`)}
      UNION ALL ${locksOf(tenantId, named)}
      UNION ALL ${sealedNames(named)}`,
  );
  const valuesAt = (scope: string) =>
    new Map(
      rows.flatMap((row) => (row.scope === scope && row.value !== null ? [[row.name, row.value]] : [])),
    );
  return {
    values: { user: valuesAt('user'), tenant: valuesAt('tenant'), global: valuesAt('global') },
    ...toRules(rows.filter(({ value }) => value === null)),
  };
}

/** What is locked for the users of a tenant, and the values of which settings are sealed. */
export const readRules = async (
  tx: RawStatements,
  tenantId: string,
): Promise<Pick<Snapshot, 'locked' | 'sealed'>> =>
  toRules(await query(tx, sql`${locksOf(tenantId, empty)} UNION ALL ${sealedNames(empty)}`));

const SEALED = 'sealed';

/** A version before may have changed one of the two. */
const sealedNames = (named: Sql): Sql => sql`
  SELECT ${SEALED}, name, NULL FROM setting_definition
  WHERE tenant_id = ${HOST_TENANT_ID}::uuid AND (is_secret OR is_sealed) ${named}`;

const locksOf = (tenantId: string, named: Sql): Sql => sql`
  SELECT scope, name, NULL AS value FROM setting_lock
  WHERE tenant_id = ${HOST_TENANT_ID}::uuid AND scope = 'global' ${named}
  UNION ALL SELECT scope, name, NULL FROM setting_lock
  WHERE tenant_id = ${tenantId}::uuid AND scope = 'tenant' ${named}`;

function toRules(rules: readonly Stored[]): { locked: LockedSettings; sealed: ReadonlySet<string> } {
  const namesAt = (scope: string) =>
    new Set(rules.filter((rule) => rule.scope === scope).map(({ name }) => name));
  return { locked: { tenant: namesAt('tenant'), global: namesAt('global') }, sealed: namesAt(SEALED) };
}

const query = (tx: RawStatements, { text, values }: Sql): Promise<Stored[]> =>
  tx.$queryRawUnsafe<Stored[]>(text, ...values);
