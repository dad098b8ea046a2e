import { forMany } from '@plinth/runtime/process/current-work';
import type { Level } from '../domain/level';
import type { Snapshot } from '../domain/snapshot';

export interface SnapshotCache {
  /** Everything set that may concern one user of one tenant. */
  of(tenantId: string, userId: string): Promise<Snapshot>;
  /** Drops every snapshot that a change at this level makes stale. */
  invalidate(level: Level): void;
  /** How many snapshots are in memory. */
  readonly size: number;
}

/** The longest time for which a snapshot is stale when the message of a change is lost. */
const FRESH_MILLISECONDS = 5_000;

interface Entry {
  at: number;
  snapshot: Promise<Snapshot>;
}

/** The snapshots of a tenant by user, the oldest first, and when the newest one was read. */
interface TenantEntries {
  byUser: Map<string, Entry>;
  at: number;
}

/**
 * Caches snapshots in the process, by tenant first, so that no tenant is ever given another's. Each has all values that
 * are set for the tenant, so that those are forgotten that are too old to be used again, whoever they are of.
 */
export function snapshotCache(read: (tenantId: string, userId: string) => Promise<Snapshot>): SnapshotCache {
  /** By tenant, the one whose newest snapshot is the oldest first. */
  const tenants = new Map<string, TenantEntries>();

  const forgetOld = (
    now: number,
    entries: ReadonlyMap<string, { at: number }>,
    forget: (key: string) => void,
  ) => {
    for (const [key, { at }] of entries) {
      if (now - at < FRESH_MILLISECONDS) return;
      forget(key);
    }
  };

  return {
    of(tenantId, userId) {
      const now = performance.now();
      const byUser = tenants.get(tenantId)?.byUser ?? new Map<string, Entry>();
      const cached = byUser.get(userId);
      if (cached && now - cached.at < FRESH_MILLISECONDS) return cached.snapshot;

      const snapshot = forMany(() => read(tenantId, userId));
      const entry = { at: now, snapshot };
      snapshot.catch(() => {
        if (byUser.get(userId) === entry) byUser.delete(userId);
      });
      byUser.delete(userId);
      byUser.set(userId, entry);
      tenants.delete(tenantId);
      tenants.set(tenantId, { byUser, at: now });
      forgetOld(now, byUser, (key) => byUser.delete(key));
      forgetOld(now, tenants, (key) => tenants.delete(key));
      return snapshot;
    },

    invalidate({ tenantId, scope, userId }) {
      if (scope === 'global') tenants.clear();
      else if (scope === 'tenant') tenants.delete(tenantId);
      else tenants.get(tenantId)?.byUser.delete(userId);
    },

    get size() {
      return [...tenants.values()].reduce((sum, { byUser }) => sum + byUser.size, 0);
    },
  };
}
