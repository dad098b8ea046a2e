import type { SettingDefinition, SettingScope } from '@plinth/contracts/settings/shapes';
import { resolve, type Locks, type Resolution } from './cascade';

/** The names of the settings that are locked at each level. */
export interface LockedSettings {
  tenant: ReadonlySet<string>;
  global: ReadonlySet<string>;
}

/** Everything set that may concern one user: values by name as stored (secrets sealed), and what is locked. */
export interface Snapshot {
  values: Record<SettingScope | 'config', ReadonlyMap<string, string>>;
  locked: LockedSettings;
}

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
