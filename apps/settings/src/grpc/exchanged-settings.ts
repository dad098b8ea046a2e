import { settingChanged } from '@plinth/contracts/settings/events';
import type { SettingDefinition, SettingScope } from '@plinth/contracts/settings/shapes';
import type { BatchContext, ImportRow, StoredRow, UndoneRows } from '@plinth/conventions/exchange/definition';
import { rawStatements } from '@plinth/conventions/exchange/raw-statements';
import { newId } from '@plinth/kernel/uuid';
import { appendToOutbox } from '@plinth/runtime/outbox';
import { SECRET, visibleValue } from '../domain/visible-value';

/** A setting as a file or the table has it. */
export interface SettingRow {
  name: string;
  scope: SettingScope;
  userId: string;
  value: string;
}

export const settingOf = ({ values }: ImportRow): SettingRow => values as unknown as SettingRow;

export const storedSetting = (row: StoredRow): SettingRow => ({
  name: String(row['name']),
  scope: row['scope'] as SettingScope,
  userId: String(row['user_id']),
  value: String(row['value']),
});

/** A change as its history tells it. */
export interface Change {
  setting: SettingRow;
  kind: 'Set' | 'Cleared';
  from: string | null;
  to: string | null;
}

/** A value that an import had set is cleared, one that it had replaced is set again. */
export function takenBack(
  { removed, restored }: UndoneRows,
  known: ReadonlyMap<string, SettingDefinition>,
): Change[] {
  const shown = (row: StoredRow): string | null => {
    const { name, value } = storedSetting(row);
    const definition = known.get(name);
    return definition ? visibleValue(definition, value) : SECRET;
  };
  return [
    ...removed.map((row): Change => ({
      setting: storedSetting(row),
      kind: 'Cleared',
      from: shown(row),
      to: null,
    })),
    ...restored.map(({ undone, row }): Change => ({
      setting: storedSetting(row),
      kind: 'Set',
      from: shown(undone),
      to: shown(row),
    })),
  ];
}

export async function noteHistory(
  changes: readonly Change[],
  { connection, caller }: BatchContext,
): Promise<void> {
  const rows = changes.map(({ setting: { scope, userId, name }, kind, from, to }) => [
    newId(),
    scope,
    userId,
    name,
    kind,
    from,
    to,
  ]);
  await connection.query(
    `INSERT INTO setting_change
       (tenant_id, id, scope, user_id, name, kind, previous_value, new_value, changed_at, changed_by)
     SELECT $1::uuid, (c->>0)::uuid, c->>1, c->>2, c->>3, c->>4, c->>5, c->>6, now(), $2
     FROM jsonb_array_elements($3::jsonb) AS c`,
    [caller.tenantId, caller.userId, JSON.stringify(rows)],
  );
}

/** One fact for each level that was written. */
export async function tell(
  settings: readonly SettingRow[],
  { connection, caller }: BatchContext,
): Promise<void> {
  const levels = Map.groupBy(settings, ({ scope, userId }) => JSON.stringify([scope, userId]));
  const facts = Array.from(levels.values(), (ofLevel) => {
    const { scope, userId } = ofLevel[0]!;
    return {
      type: settingChanged,
      tenantId: caller.tenantId,
      subject: ofLevel.length === 1 ? ofLevel[0]!.name : 'settings',
      payload: { scope, userId: userId || null, names: ofLevel.map(({ name }) => name) },
      actor: caller,
    };
  });
  await appendToOutbox(rawStatements(connection), ...facts);
}
