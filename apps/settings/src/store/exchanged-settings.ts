import type { BatchContext } from '@plinth/exchange/definition';
import { byPlace, inIndexOrder, lookUp } from '@plinth/exchange/look-up';
import { SECRET } from '@plinth/exchange/row-error';
import { HOST_TENANT_ID, type Caller } from '@plinth/kernel/caller';
import { unavailable } from '@plinth/kernel/problem';
import type { PoolClient } from 'pg';
import type { SettingRow, ValueChange } from '../domain/imported-setting';
import type { Level } from '../domain/level';
import type { Snapshot } from '../domain/snapshot';
import { isRemovalDue, OLD_CHANGES, recordChanges, serializeChanges } from './setting-changes';
import { readRules } from './stored-settings';

type Key = Omit<SettingRow, 'value'>;
type Rules = Pick<Snapshot, 'locked' | 'sealed'>;

/** What an export shows of a value: secrets are masked, and so is what no service defines any more. */
export const visibleValueSql = `CASE WHEN EXISTS (
    SELECT FROM setting_definition d WHERE d.tenant_id = '${HOST_TENANT_ID}' AND d.name = t.name
      AND NOT (d.is_secret OR d.is_sealed)
  ) THEN t.value ELSE '${SECRET}' END`;

export const notGlobalSql = `t.scope <> 'global'`;

/**
 * Keeps other changes of these settings waiting until the batch is committed, and reads what is locked and sealed.
 * @throws Problem `overloaded` while one of them becomes secret: imports that overlap would put that off without end
 */
export async function claimSettings(
  settings: readonly Key[],
  { tx, connection, caller }: BatchContext,
): Promise<Rules> {
  const names = settings.map(({ name }) => name);
  await serializeChanges(tx, caller.tenantId, names);
  const { rows } = await connection.query<{ name: string }>(
    `SELECT name FROM setting_definition WHERE tenant_id = '${HOST_TENANT_ID}' AND becomes_secret
       AND NOT (is_secret AND is_sealed) AND name = ANY($1)`,
    [names],
  );
  if (rows[0]) throw unavailable(`The setting "${rows[0].name}" becomes secret; try again.`);
  return readRules(tx, caller.tenantId);
}

const STORED_VALUE = lookUp({
  table: 'setting_value',
  columns: ['scope', 'user_id', 'name'],
  values: ['wanted.scope', 'wanted."userId"', 'wanted.name'],
  select: 't.scope, t.user_id AS "userId", t.name, t.value',
});

/** The stored values of these settings, secrets sealed. */
export async function readStoredValues(
  settings: readonly Key[],
  { connection, caller }: BatchContext,
): Promise<{ get(setting: Key): string | undefined }> {
  const { rows } = await inIndexOrder(connection, () =>
    connection.query<Key & { value: string }>(
      `SELECT stored.* FROM jsonb_to_recordset($2) AS wanted (scope text, "userId" text, name text)
       CROSS JOIN ${STORED_VALUE} AS stored`,
      [caller.tenantId, JSON.stringify(settings.map(({ scope, userId, name }) => ({ scope, userId, name })))],
    ),
  );
  const values = new Map(rows.map((row) => [keyOf(row), row.value]));
  return { get: (setting) => values.get(keyOf(setting)) };
}

const keyOf = ({ scope, userId, name }: Key): string => JSON.stringify([scope, userId, name]);

/** Writes the history and the events of values that an import, or its undoing, has written. */
export async function recordImported(
  changes: readonly ValueChange[],
  { tx, connection, caller }: BatchContext,
): Promise<void> {
  const recorded = changes.map(({ setting, ...change }) => ({
    ...change,
    level: levelOfRow(setting, caller),
    name: setting.name,
  }));
  await recordChanges(tx, caller, recorded);
  await removeOldChanges(
    recorded.filter(isRemovalDue).map(({ level, name }) => ({ ...level, name })),
    connection,
    caller,
  );
}

/** The same that happens when settings are changed over HTTP. */
async function removeOldChanges(
  settings: readonly Key[],
  connection: PoolClient,
  { tenantId }: Caller,
): Promise<void> {
  if (settings.length === 0) return;
  const { rows: old } = await inIndexOrder(connection, () =>
    connection.query<{ place: string }>(
      `SELECT old.place FROM jsonb_to_recordset($2) AS changed (scope text, "userId" text, name text)
       CROSS JOIN LATERAL (
         SELECT ctid AS place FROM setting_change AS t
         WHERE t.tenant_id = $1::uuid AND t.scope = changed.scope AND t.user_id = changed."userId"
           AND t.name = changed.name
         ${OLD_CHANGES}) AS old`,
      [tenantId, JSON.stringify(settings)],
    ),
  );
  if (old.length === 0) return;
  await byPlace(connection, () =>
    connection.query('DELETE FROM setting_change WHERE tenant_id = $1 AND ctid = ANY($2::tid[])', [
      tenantId,
      old.map(({ place }) => place),
    ]),
  );
}

/** Global rows are imported by callers of the host tenant only. */
const levelOfRow = ({ scope, userId }: Key, { tenantId }: Caller): Level => ({ tenantId, scope, userId });
