import type { SettingScope } from '@plinth/contracts/settings/shapes';
import { forMany } from '@plinth/runtime/process/current-work';
import { levelsOf, type Level } from '../domain/level';
import type { Snapshot, StoredLevel } from '../domain/snapshot';

export interface SnapshotCache {
  /** Everything set that may concern one user of one tenant. */
  of(tenantId: string, userId: string): Promise<Snapshot>;
  /** Drops what a change at this level makes stale. */
  invalidate(level: Level): void;
  /** How many levels are in memory. */
  readonly size: number;
}

export interface Reads {
  readLevel(level: Level): Promise<StoredLevel>;
  /** All levels of one user as they are at one instant. */
  readSnapshot(tenantId: string, userId: string): Promise<Snapshot>;
  toSnapshot(levels: Record<SettingScope, StoredLevel>): Snapshot;
}

/** The longest time for which a level is stale when the message of a change is lost. */
const FRESH_MILLISECONDS = 5_000;
/** Of the names and values of all levels together. */
const CHARACTERS_MAX = 16_000_000;
/** What a level takes beside them. */
const CHARACTERS_OF_LEVEL = 500;

interface Entry {
  at: number;
  read: Promise<StoredLevel>;
  /** None until it is read. */
  characters: number;
}

/**
 * Caches in the process what is set at each level, so that what concerns all users of a tenant is there once. Levels are
 * forgotten that are too old to be used again, and the oldest ones where there is too much of them.
 */
export function snapshotCache(
  { readLevel, readSnapshot, toSnapshot }: Reads,
  charactersMax = CHARACTERS_MAX,
): SnapshotCache {
  /** The oldest first. */
  const entries = new Map<string, Entry>();
  let characters = 0;

  const forget = (key: string, entry = entries.get(key)) => {
    if (!entry || entries.get(key) !== entry) return;
    entries.delete(key);
    characters -= entry.characters;
  };
  const forgetWhile = (isTooMuch: (entry: Entry) => boolean) => {
    for (const [key, entry] of entries) {
      if (!isTooMuch(entry)) return;
      forget(key, entry);
    }
  };
  const remember = (key: string, entry: Entry, level: StoredLevel) => {
    if (entries.get(key) !== entry) return;
    entry.characters = key.length + charactersOf(level);
    characters += entry.characters;
    forgetWhile(() => characters > charactersMax);
  };

  const storedAt = (level: Level): Promise<StoredLevel> => {
    const now = performance.now();
    const key = keyOf(level);
    const cached = entries.get(key);
    if (cached && now - cached.at < FRESH_MILLISECONDS) return cached.read;
    forget(key);
    forgetWhile(({ at }) => now - at >= FRESH_MILLISECONDS);
    const entry: Entry = { at: now, characters: 0, read: forMany(() => readLevel(level)) };
    entries.set(key, entry);
    entry.read.then(
      (stored) => remember(key, entry, stored),
      () => forget(key, entry),
    );
    return entry.read;
  };

  return {
    async of(tenantId, userId) {
      const levels = levelsOf(tenantId, userId);
      const [user, tenant, global] = await Promise.all([
        storedAt(levels.user),
        storedAt(levels.tenant),
        storedAt(levels.global),
      ]);
      // What is sealed once stays so: where it is more at one level, a setting became secret between the readings.
      const isOfOneInstant = [user, tenant].every(({ sealed }) => sealed.size === global.sealed.size);
      return isOfOneInstant ? toSnapshot({ user, tenant, global }) : readSnapshot(tenantId, userId);
    },
    invalidate: (level) => forget(keyOf(level)),
    get size() {
      return entries.size;
    },
  };
}

/** The user comes last, since an id may have any character. */
const keyOf = ({ tenantId, scope, userId }: Level): string => `${tenantId}/${scope}/${userId}`;

function charactersOf({ values, locked, sealed }: StoredLevel): number {
  let sum = CHARACTERS_OF_LEVEL;
  for (const [name, value] of values) sum += name.length + value.length;
  for (const names of [locked, sealed]) for (const name of names) sum += name.length;
  return sum;
}
