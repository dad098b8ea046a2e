import type { SettingScope, SettingSource } from '@plinth/contracts/settings/shapes';

/** What is set at each level for one setting; null where nothing is set. */
export interface LevelValues {
  user: string | null;
  tenant: string | null;
  global: string | null;
  config: string | null;
  default: string | null;
}

export interface Locks {
  tenant: boolean;
  global: boolean;
}

export interface Resolution {
  value: string | null;
  source: SettingSource;
  /** Whether a lock decides the level from which the value is taken. */
  locked: boolean;
  /** Weaker values that the winning one hides. */
  overrides: { source: SettingSource; value: string }[];
}

const levels = [
  ['user', 'User'],
  ['tenant', 'Tenant'],
  ['global', 'Global'],
  ['config', 'Config'],
  ['default', 'Default'],
] as const satisfies readonly (readonly [keyof LevelValues, SettingSource])[];

const rank: Record<SettingScope, number> = { user: 0, tenant: 1, global: 2 };

/**
 * The value as seen at one scope: the first that is not null from there on.
 * What is set below a lock does not count.
 */
export function resolve(values: LevelValues, locks: Locks, seenAt: SettingScope): Resolution {
  const lock: SettingScope | undefined = locks.global ? 'global' : locks.tenant ? 'tenant' : undefined;
  const from = Math.max(rank[seenAt], lock ? rank[lock] : 0);
  const found = levels
    .slice(from)
    .map(([level, source]) => ({ source, value: values[level] }))
    .filter((entry): entry is { source: SettingSource; value: string } => entry.value !== null);
  const [winner, ...overrides] = found;
  return {
    value: winner?.value ?? null,
    source: winner?.source ?? 'Default',
    locked: lock !== undefined && rank[lock] > rank[seenAt],
    overrides,
  };
}

/** The lock that forbids changes at a scope, if there is one: a lock forbids changes below its level. */
export function lockAbove(locks: Locks, scope: SettingScope): 'tenant' | 'global' | undefined {
  if (locks.global && rank[scope] < rank.global) return 'global';
  if (locks.tenant && rank[scope] < rank.tenant) return 'tenant';
  return undefined;
}
