import { HOST_TENANT_ID } from '@plinth/kernel/caller';
import type { RawStatements } from '@plinth/runtime/postgres/postgres';
import { empty, sql, type Sql } from '@plinth/runtime/postgres/raw-statements';
import type { LockedSettings, Snapshot } from '../domain/snapshot';

interface Stored {
  scope: string;
  name: string;
  /** Null for what is locked. */
  value: string | null;
}

/** What is stored that concerns one user, in one statement: of all settings, or of one. */
export async function readStoredSettings(
  tx: RawStatements,
  { tenantId, userId }: { tenantId: string; userId: string },
  name?: string,
): Promise<{ values: Omit<Snapshot['values'], 'config'>; locked: LockedSettings }> {
  const named = name === undefined ? empty : sql`AND name = ${name}`;
  const valuesOf = (tenant: string, scope: Sql, user: Sql) => sql`
    SELECT scope, name, value FROM setting_value
    WHERE tenant_id = ${tenant}::uuid AND scope = ${scope} AND user_id = ${user} ${named}`;
  const rows = await query(
    tx,
    sql`${valuesOf(HOST_TENANT_ID, sql`'global'`, sql`''`)}
      UNION ALL ${valuesOf(tenantId, sql`'tenant'`, sql`''`)}
      UNION ALL ${valuesOf(tenantId, sql`'user'`, sql`${userId}`)}
      UNION ALL ${locksOf(tenantId, named)}`,
  );
  const valuesAt = (scope: string) =>
    new Map(
      rows.flatMap((row) => (row.scope === scope && row.value !== null ? [[row.name, row.value]] : [])),
    );
  return {
    values: { user: valuesAt('user'), tenant: valuesAt('tenant'), global: valuesAt('global') },
    locked: toLockedSettings(rows.filter(({ value }) => value === null)),
  };
}

/** What is locked for the users of a tenant. */
export const readLockedSettings = async (tx: RawStatements, tenantId: string): Promise<LockedSettings> =>
  toLockedSettings(await query(tx, locksOf(tenantId, empty)));

const locksOf = (tenantId: string, named: Sql): Sql => sql`
  SELECT scope, name, NULL AS value FROM setting_lock
  WHERE tenant_id = ${HOST_TENANT_ID}::uuid AND scope = 'global' ${named}
  UNION ALL SELECT scope, name, NULL FROM setting_lock
  WHERE tenant_id = ${tenantId}::uuid AND scope = 'tenant' ${named}`;

function toLockedSettings(locks: readonly Stored[]): LockedSettings {
  const namesAt = (scope: string) =>
    new Set(locks.filter((lock) => lock.scope === scope).map(({ name }) => name));
  return { tenant: namesAt('tenant'), global: namesAt('global') };
}

const query = (tx: RawStatements, { text, values }: Sql): Promise<Stored[]> =>
  tx.$queryRawUnsafe<Stored[]>(text, ...values);
