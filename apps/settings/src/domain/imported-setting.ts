import type { SettingDefinition, SettingScope } from '@plinth/contracts/settings/shapes';
import type { ImportRow, StoredRow, UndoneRows } from '@plinth/exchange/definition';
import { errorMessage, SECRET, shownValue, type RowError } from '@plinth/exchange/row-error';
import { rowMessage, type RowMessage } from '@plinth/exchange/row-message';
import { holds, isOfHost, type Caller } from '@plinth/kernel/caller';
import { Problem, validationCode, type ValidationRule } from '@plinth/kernel/problem';
import { lockAbove } from './cascade';
import type { Definitions } from './definitions';
import { definitionIn, locksOf, type LockedSettings } from './snapshot';
import { requireFittingValue } from './value-schema';
import { visibleValue } from './visible-value';

/** A value of a setting as a row of a file or of the table has it. */
export interface SettingRow {
  name: string;
  scope: SettingScope;
  userId: string;
  value: string;
}

export const importedSetting = ({ values }: ImportRow): SettingRow => values as unknown as SettingRow;

export const storedSetting = (row: StoredRow): SettingRow => ({
  name: String(row['name']),
  scope: row['scope'] as SettingScope,
  userId: String(row['user_id']),
  value: String(row['value']),
});

/** A change of a value as the history shows it. */
export interface ValueChange {
  setting: Omit<SettingRow, 'value'>;
  kind: 'Set' | 'Cleared';
  previousValue: string | null;
  newValue: string | null;
}

/** A file may make users up, and a row has the id of its user in several indexes. */
const USER_ID_BYTES_MAX = 255;

/** Global values reach beyond one tenant. */
const mayChange = ({ scope }: SettingRow, caller: Caller): boolean =>
  scope !== 'global' || (isOfHost(caller) && holds(caller, 'Settings.Global.Manage'));

export const mayReadGlobal = (caller: Caller): boolean =>
  isOfHost(caller) && holds(caller, 'Settings.Global.Read');

const lockOn = ({ name, scope }: SettingRow, locked: LockedSettings) =>
  lockAbove(locksOf(locked, name), scope);

/** Whether an imported value may be removed, or replaced by the former one, when its import is undone. */
export const mayUndo = (setting: SettingRow, caller: Caller, locked: LockedSettings): boolean =>
  mayChange(setting, caller) && lockOn(setting, locked) === undefined;

/** Why a row cannot be imported, by the same rules as a change through HTTP. */
export function errorOfRow(
  row: ImportRow,
  definition: SettingDefinition | undefined,
  caller: Caller,
  locked: LockedSettings,
): RowError | undefined {
  const setting = importedSetting(row);
  const { name, scope, userId, value } = setting;
  const { rowNumber } = row;
  const breaks = (column: keyof SettingRow, rule: ValidationRule, message: RowMessage): RowError => ({
    rowNumber,
    kind: 'Validation',
    column,
    value: definition?.isSecret && column === 'value' ? SECRET : shownValue(setting[column]),
    code: validationCode(rule),
    ...errorMessage(message, column),
  });
  if (!definition) return breaks('name', 'Enum', rowMessage('unknownReference', name));
  if (!definition.scopes.includes(scope))
    return breaks('scope', 'Enum', rowMessage('enum', definition.scopes.join(', ')));
  if (!mayChange(setting, caller)) return breaks('scope', 'Enum', rowMessage('notAllowed', scope));
  if (scope === 'user' && userId === '') return breaks('userId', 'NotEmpty', rowMessage('notEmpty'));
  if (Buffer.byteLength(userId) > USER_ID_BYTES_MAX)
    return breaks(
      'userId',
      'MaximumLength',
      rowMessage('notFitting', `it has more than ${USER_ID_BYTES_MAX} bytes`),
    );
  if (scope !== 'user' && userId !== '') return breaks('userId', 'Format', rowMessage('mustBeEmpty'));
  const lock = lockOn(setting, locked);
  if (lock) {
    const message = errorMessage(rowMessage('locked', name, lock), 'name');
    const code = 'Service:Persistence:Locked';
    return { rowNumber, kind: 'Persistence', column: 'name', value: name, code, ...message };
  }
  try {
    requireFittingValue(definition, value);
    return undefined;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { code, ...rest } = breaks('value', 'Format', rowMessage('notFitting', error.detail));
    return { ...rest, code: error.errors?.['value']?.[0] ?? code };
  }
}

/** What undoing an import changes: a value that it had set is cleared, one that it had replaced by another is set again. */
export function undoneChanges(
  { removed, restored }: UndoneRows,
  definitions: Definitions,
  sealed: ReadonlySet<string>,
): ValueChange[] {
  const shown = (row: StoredRow): string | null => {
    const { name, value } = storedSetting(row);
    const definition = definitions.get(name);
    return definition ? visibleValue(definitionIn({ sealed }, definition), value) : SECRET;
  };
  const cleared = (row: StoredRow): ValueChange => ({
    setting: storedSetting(row),
    kind: 'Cleared',
    previousValue: shown(row),
    newValue: null,
  });
  const setAgain = (row: StoredRow, previousValue: string | null): ValueChange => ({
    setting: storedSetting(row),
    kind: 'Set',
    previousValue,
    newValue: shown(row),
  });
  return [
    ...removed.map(cleared),
    ...restored.flatMap(({ undone, row }) => {
      if (!isSameSetting(undone, row)) return [cleared(undone), setAgain(row, null)];
      return undone['value'] === row['value'] ? [] : [setAgain(row, shown(undone))];
    }),
  ];
}

/** Imports of an earlier version could make the value of one setting that of another. */
const isSameSetting = (one: StoredRow, other: StoredRow): boolean =>
  ['name', 'scope', 'user_id'].every((column) => one[column] === other[column]);
