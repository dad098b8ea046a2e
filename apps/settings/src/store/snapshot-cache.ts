import { levelsAbove, userLevel, type Level } from '../domain/level';
import type { Snapshot, StoredLevel } from '../domain/snapshot';
import { RecentReads } from './recent-reads';
import type { SettingStore } from './setting-store';

export interface SnapshotCache {
  /** Everything set that may concern one user of one tenant. */
  of(tenantId: string, userId: string): Promise<Snapshot>;
  /** Drops what a change at this level makes stale. */
  invalidate(level: Level): void;
  /** Of how many users and tenants something is in memory. */
  readonly size: number;
}

type Reads = Pick<SettingStore, 'readLevels' | 'readSnapshot' | 'toSnapshot'>;

/** Of the names and values of all users together, and once more of all tenants. */
const CHARACTERS_MAX = 8_000_000;
/** What a level takes beside them. */
const CHARACTERS_OF_LEVEL = 500;

/**
 * Caches in the process what is set for each user, and apart from that what is set for all users of a tenant, so that it is
 * there once. That includes what is set for all tenants: each reads it for itself, so that none waits for another.
 */
export function snapshotCache(
  { readLevels, readSnapshot, toSnapshot }: Reads,
  charactersMax = CHARACTERS_MAX,
): SnapshotCache {
  const users = new RecentReads<Record<'user', StoredLevel>>(charactersOf, charactersMax);
  const tenants = new RecentReads<Record<'tenant' | 'global', StoredLevel>>(charactersOf, charactersMax);
  // The user comes last, since an id may have any character.
  const keyOf = (tenantId: string, userId: string): string => `${tenantId}/${userId}`;

  return {
    async of(tenantId, userId) {
      const [own, above] = await Promise.all([
        users.of(keyOf(tenantId, userId), () => readLevels(tenantId, { user: userLevel(tenantId, userId) })),
        tenants.of(tenantId, () => readLevels(tenantId, levelsAbove(tenantId))),
      ]);
      // What is sealed stays so: where these are not as many, a setting became secret between the two readings.
      const isOfOneInstant = own.user.sealed.size === above.global.sealed.size;
      return isOfOneInstant ? toSnapshot({ ...own, ...above }) : readSnapshot(tenantId, userId);
    },
    invalidate({ tenantId, scope, userId }) {
      if (scope === 'global') tenants.forgetAll();
      else if (scope === 'tenant') tenants.forget(tenantId);
      else users.forget(keyOf(tenantId, userId));
    },
    get size() {
      return users.size + tenants.size;
    },
  };
}

function charactersOf(levels: Readonly<Record<string, StoredLevel>>): number {
  let sum = 0;
  for (const { values, locked, sealed } of Object.values(levels)) {
    sum += CHARACTERS_OF_LEVEL;
    for (const [name, value] of values) sum += name.length + value.length;
    for (const names of [locked, sealed]) for (const name of names) sum += name.length;
  }
  return sum;
}
