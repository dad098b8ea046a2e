import type { SettingDefinition, SettingScope } from '@plinth/contracts/settings/shapes';
import { resolve, type Locks, type Resolution } from './cascade';

/** The names of the settings that are locked at each level. */
export interface LockedSettings {
  tenant: ReadonlySet<string>;
  global: ReadonlySet<string>;
}

/** Everything set that may concern one user: values by name as stored, which of them are sealed, and what is locked. */
export interface Snapshot {
  values: Record<SettingScope | 'config', ReadonlyMap<string, string>>;
  locked: LockedSettings;
  /** The settings whose stored values are sealed. */
  sealed: ReadonlySet<string>;
}

/** What is stored at one level: values by name, the settings that are locked there, and which ones are sealed at all. */
export interface StoredLevel {
  values: ReadonlyMap<string, string>;
  locked: ReadonlySet<string>;
  sealed: ReadonlySet<string>;
}

/** @param levels as they were when the same settings were sealed */
export const snapshotOf = (
  { user, tenant, global }: Record<SettingScope, StoredLevel>,
  config: ReadonlyMap<string, string>,
): Snapshot => ({
  values: { user: user.values, tenant: tenant.values, global: global.values, config },
  locked: { tenant: tenant.locked, global: global.locked },
  sealed: global.sealed,
});

/** A definition as it was when the values were read: a process learns seconds later that a setting became secret. */
export const definitionIn = (
  { sealed }: Pick<Snapshot, 'sealed'>,
  definition: SettingDefinition,
): SettingDefinition => (sealed.has(definition.name) ? { ...definition, isSecret: true } : definition);

export const locksOf = ({ tenant, global }: LockedSettings, name: string): Locks => ({
  tenant: tenant.has(name),
  global: global.has(name),
});

/** One setting as seen at one scope. */
export function resolveSetting(
  { values, locked }: Snapshot,
  { name, defaultValue }: SettingDefinition,
  seenAt: SettingScope,
): Resolution {
  const valueAt = (level: keyof Snapshot['values']) => values[level].get(name) ?? null;
  const levels = {
    user: valueAt('user'),
    tenant: valueAt('tenant'),
    global: valueAt('global'),
    config: valueAt('config'),
    default: defaultValue,
  };
  return resolve(levels, locksOf(locked, name), seenAt);
}
