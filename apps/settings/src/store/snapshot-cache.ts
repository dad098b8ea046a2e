import type { SettingChanged, Snapshot } from './setting-store';

export interface SnapshotCache {
  /** Everything set that may concern one user of one tenant. */
  of(tenantId: string, userId: string): Promise<Snapshot>;
  forget(change: SettingChanged): void;
}

/** A lost message heals within this time, because a reading is not kept longer. */
const FRESH_MILLISECONDS = 5_000;
const TENANTS_MAX = 2_000;
const USERS_MAX = 5_000;

interface Entry {
  at: number;
  snapshot: Promise<Snapshot>;
}

/** Keeps readings in the process; entries are found by tenant first, so no tenant ever meets another's. */
export function snapshotCache(read: (tenantId: string, userId: string) => Promise<Snapshot>): SnapshotCache {
  const entriesByTenant = new Map<string, Map<string, Entry>>();

  return {
    of(tenantId, userId) {
      const entries = entriesByTenant.get(tenantId) ?? new Map<string, Entry>();
      const known = entries.get(userId);
      if (known && Date.now() - known.at < FRESH_MILLISECONDS) return known.snapshot;

      if (entriesByTenant.size >= TENANTS_MAX) entriesByTenant.clear();
      if (entries.size >= USERS_MAX) entries.clear();
      const snapshot = read(tenantId, userId);
      const entry = { at: Date.now(), snapshot };
      snapshot.catch(() => {
        if (entries.get(userId) === entry) entries.delete(userId);
      });
      entries.set(userId, entry);
      entriesByTenant.set(tenantId, entries);
      return snapshot;
    },

    forget({ tenantId, scope, userId }) {
      if (scope === 'global') entriesByTenant.clear();
      else if (scope === 'tenant') entriesByTenant.delete(tenantId);
      else if (userId !== null) entriesByTenant.get(tenantId)?.delete(userId);
    },
  };
}
