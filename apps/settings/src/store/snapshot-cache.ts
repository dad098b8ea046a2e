import { BoundedMap } from '@plinth/kernel/bounded-map';
import type { Level } from '../domain/level';
import type { Snapshot } from '../domain/snapshot';

export interface SnapshotCache {
  /** Everything set that may concern one user of one tenant. */
  of(tenantId: string, userId: string): Promise<Snapshot>;
  /** Drops every snapshot that a change at this level makes stale. */
  invalidate(level: Level): void;
}

/** The longest time for which a snapshot is stale when the message of a change is lost. */
const FRESH_MILLISECONDS = 5_000;
const TENANTS_MAX = 2_000;
const USERS_MAX = 5_000;

interface Entry {
  at: number;
  snapshot: Promise<Snapshot>;
}

/** Caches snapshots in the process, by tenant first, so that no tenant is ever given another's. */
export function snapshotCache(read: (tenantId: string, userId: string) => Promise<Snapshot>): SnapshotCache {
  const entriesByTenant = new BoundedMap<string, Map<string, Entry>>(TENANTS_MAX);

  return {
    of(tenantId, userId) {
      const entries = entriesByTenant.get(tenantId) ?? new BoundedMap<string, Entry>(USERS_MAX);
      const cached = entries.get(userId);
      if (cached && Date.now() - cached.at < FRESH_MILLISECONDS) return cached.snapshot;

      const snapshot = read(tenantId, userId);
      const entry = { at: Date.now(), snapshot };
      snapshot.catch(() => {
        if (entries.get(userId) === entry) entries.delete(userId);
      });
      entries.set(userId, entry);
      entriesByTenant.set(tenantId, entries);
      return snapshot;
    },

    invalidate({ tenantId, scope, userId }) {
      if (scope === 'global') entriesByTenant.clear();
      else if (scope === 'tenant') entriesByTenant.delete(tenantId);
      else entriesByTenant.get(tenantId)?.delete(userId);
    },
  };
}
