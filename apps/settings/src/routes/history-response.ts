import type { SettingChangeKind, SettingScope } from '@plinth/contracts/settings/shapes';
import type { CursorKey } from '@plinth/http/cursor';
import type { SettingChangeRow } from '../store/setting-store';

export const toSettingChange = ({
  id,
  name,
  scope,
  kind,
  previousValue,
  newValue,
  changedAt,
  changedBy,
}: SettingChangeRow) => ({
  id,
  name,
  scope: scope as SettingScope,
  kind: kind as SettingChangeKind,
  previousValue,
  newValue,
  changedAt,
  changedBy,
});

/** Where a change stands in the order of the list. */
export const cursorKeyOf = ({ changedAt, id }: SettingChangeRow): CursorKey => [changedAt.toISOString(), id];
