import type { SettingDefinition, SettingScope } from '@plinth/contracts/settings/shapes';
import { requirePrecondition, type Precondition } from '@plinth/kernel/entity-tag';
import { lockAbove } from './cascade';
import { scopeNotAllowed, settingLocked } from './problems';
import { locksOf, resolveSetting, type Snapshot } from './snapshot';
import { requireFittingValue } from './value-schema';
import { tagOf } from './visible-value';

/** What a caller wants to change of one setting at one scope; the value null clears it. */
export type SettingCommand =
  | { type: 'write'; value: string | null; precondition?: Precondition }
  | { type: 'lock' }
  | { type: 'unlock' };

/** What a command leads to. The previous value is as stored, so the one of a secret is sealed. */
export type SettingChange =
  | { kind: 'Set'; previousValue: string | null; newValue: string }
  | { kind: 'Cleared'; previousValue: string; newValue: null }
  | { kind: 'Locked' | 'Unlocked'; previousValue: null; newValue: null };

/**
 * Refuses what the definition of a setting does not allow, independent of what is set now.
 * @throws Problem `setting-value-invalid` or `setting-scope-not-allowed`
 */
export function requireAllowed(
  definition: SettingDefinition,
  scope: SettingScope,
  command: SettingCommand,
): void {
  if (command.type === 'write' && command.value !== null) requireFittingValue(definition, command.value);
  // There is no level below a user's.
  const isLockable = scope !== 'user';
  if (command.type !== 'write' && !isLockable) throw scopeNotAllowed(definition.name, scope);
  if (!definition.scopes.includes(scope)) throw scopeNotAllowed(definition.name, scope);
}

/**
 * What an allowed command changes in what is set now; undefined where there is nothing to change.
 * @throws Problem `setting-locked` or `stale-version`
 */
export function decideChange(
  snapshot: Snapshot,
  definition: SettingDefinition,
  scope: SettingScope,
  command: SettingCommand,
): SettingChange | undefined {
  const { name } = definition;
  const locks = locksOf(snapshot.locked, name);
  const lock = lockAbove(locks, scope);
  if (lock) throw settingLocked(name, lock);
  if (command.type !== 'write') {
    const isLocked = scope !== 'user' && locks[scope];
    if (isLocked === (command.type === 'lock')) return undefined;
    return { kind: isLocked ? 'Unlocked' : 'Locked', previousValue: null, newValue: null };
  }
  requirePrecondition(
    command.precondition,
    tagOf(definition, scope, resolveSetting(snapshot, definition, scope)),
  );
  const previousValue = snapshot.values[scope].get(name) ?? null;
  // The former value of a secret is sealed: each one counts as another, so that nobody can try whether a guess is it.
  if (command.value === previousValue && !definition.isSecret) return undefined;
  if (command.value !== null) return { kind: 'Set', previousValue, newValue: command.value };
  return previousValue === null ? undefined : { kind: 'Cleared', previousValue, newValue: null };
}

/**
 * The tag of a setting after a change, as seen at the scope at which it was changed. A lock changes nothing there.
 * @param stored the change as it is stored, so that of a secret the sealed value; undefined where nothing changed
 */
export function tagAfter(
  { values, ...rules }: Snapshot,
  definition: SettingDefinition,
  scope: SettingScope,
  stored: SettingChange | undefined,
): string {
  const changed = new Map(values[scope]);
  if (stored?.kind === 'Set') changed.set(definition.name, stored.newValue);
  if (stored?.kind === 'Cleared') changed.delete(definition.name);
  const after = { values: { ...values, [scope]: changed }, ...rules };
  return tagOf(definition, scope, resolveSetting(after, definition, scope));
}
