import type { Caller } from '@plinth/kernel/caller';
import { entityTag, requirePrecondition, staleVersion, type Precondition } from '@plinth/kernel/entity-tag';
import { newId } from '@plinth/kernel/uuid';
import type { TenantDatabase } from '@plinth/runtime/postgres/postgres';
import { readByIndexes } from '@plinth/runtime/postgres/read-by-indexes';
import { runOnce } from '@plinth/runtime/postgres/run-once';
import type { FairPlaces } from '@plinth/runtime/process/fair-places';
import { textsChanged, tooManyTexts } from '../domain/problems';
import type { BatchOverride, PlacedOverride, Removal, WrittenOverride } from '../domain/text-list';
import type { Bundle, Override, OverrideKey } from '../domain/texts';
import type { Prisma } from '../generated/client';
import { longOverrideBytes, storedLongBytes } from './long-overrides';
import { recordOverridesChanged } from './override-changes';
import type { TextQuota } from './text-quota';

type Tx = Prisma.TransactionClient;

/** The texts that tenants have instead of those of the platform. */
export interface OverrideStore {
  find(tenantId: string, key: OverrideKey): Promise<{ override: Override; etag: string } | undefined>;
  /** The JSON of the texts of one resource and culture by their keys, in pieces. @throws Problem of the kind `too-large` */
  list(tenantId: string, bundle: Bundle): Promise<string[]>;
  /** The overrides of a tenant in these cultures. They may be all: whoever reads them has a place in which to do so. */
  inCultures(tenantId: string, cultures: readonly string[]): Promise<FirstTexts<Override>>;
  /** The cultures in which a tenant has overrides, the first by name where there are very many. */
  cultures(tenantId: string): Promise<string[]>;
  /** Differs after every change of a tenant's overrides. */
  version(tenantId: string): Promise<string>;
  /** Creates or updates one. @throws Problem `stale-version`, `quota-exceeded` */
  put(caller: Caller, override: WrittenOverride, precondition: Precondition): Promise<{ etag: string }>;
  /**
   * Creates or updates many in one step and with one event; of two values for one text the last counts. Returns the
   * places of those that are left as they are, since they were another value than the former one.
   * @throws Problem `quota-exceeded`
   */
  putMany(caller: Caller, overrides: readonly PlacedOverride[]): Promise<ReadonlySet<number>>;
  /**
   * Removes many in one step and with one event; those that are absent are no error.
   * @throws Problem `stale-version` where one has another value than the former one; then none is removed
   */
  removeMany(caller: Caller, removals: readonly Removal[]): Promise<void>;
  /** Removes one; nothing happens where there is none. @throws Problem `stale-version` */
  remove(caller: Caller, key: OverrideKey, precondition: Precondition): Promise<void>;
}

export function overrideStore(
  db: TenantDatabase<Tx>,
  quota: Pick<TextQuota, 'take'>,
  readings: FairPlaces,
  onChange: (tenantId: string) => void,
): OverrideStore {
  /** Runs a write once per operation, and calls back after its commit. */
  const write = async <Result>(caller: Caller, execute: (tx: Tx) => Promise<Result>): Promise<Result> => {
    const result = await db.inTenant(caller.tenantId, (tx) => runOnce(tx, caller, () => execute(tx)));
    onChange(caller.tenantId);
    return result;
  };

  return {
    find: (tenantId, key) =>
      db.inTenant(tenantId, async (tx) => {
        const row = await tx.override.findUnique({ where: uniqueKey(tenantId, key) });
        return row ? { override: { ...key, value: row.value }, etag: tagOf(row) } : undefined;
      }),

    list: (tenantId, { resourceName, cultureName }) =>
      readAllTexts(db, readings, tenantId, async (tx) => {
        const pieces = await tx.$queryRawUnsafe<ListPiece[]>(
          LIST,
          tenantId,
          resourceName,
          cultureName,
          READ_CHARACTERS_MAX,
        );
        const count = pieces.reduce((sum, piece) => sum + piece.count, 0);
        if (count > READ_TEXTS_MAX || (pieces.at(-1)?.size ?? 0) > READ_CHARACTERS_MAX)
          throw tooManyTexts(READ_CHARACTERS_MAX, READ_TEXTS_MAX);
        return ['{', ...pieces.flatMap(({ members }, at) => (at === 0 ? [members] : [',', members])), '}'];
      }),

    inCultures: (tenantId, cultures) =>
      db.inTenant(tenantId, async (tx) =>
        firstTexts(
          await tx.$queryRawUnsafe<(Override & Sized)[]>(
            IN_CULTURES,
            tenantId,
            cultures,
            READ_CHARACTERS_MAX,
          ),
        ),
      ),

    cultures: (tenantId) =>
      db.inTenant(tenantId, async (tx) => {
        const rows = await tx.$queryRawUnsafe<{ culture_name: string }[]>(CULTURES, tenantId);
        return rows.map(({ culture_name }) => culture_name);
      }),

    version: (tenantId) =>
      db.inTenant(tenantId, async (tx) => {
        const marks = await tx.overrideMark.findMany({ where: { tenantId }, orderBy: { id: 'asc' } });
        return marks.map(({ id }) => id).join(' ');
      }),

    put: (caller, override, precondition) =>
      write(caller, async (tx) => {
        const grownBytes = await longTextsGrowBy(tx, caller, [override]);
        const row = await putOne(tx, caller, override, precondition);
        quota.take(caller.tenantId, row.version === 1 ? 1 : 0, grownBytes([override]));
        await recordOverridesChanged(tx, caller, [override]);
        return { etag: tagOf(row) };
      }),

    putMany: async (caller, overrides) => {
      if (overrides.length === 0) return new Set();
      const result = await write<PutManyResult>(caller, async (tx) => {
        const rows = lastOfEach(overrides);
        const grownBytes = await longTextsGrowBy(tx, caller, rows);
        const { changed, stale } = rows.some(({ formerValue }) => formerValue !== undefined)
          ? await putManyAsRead(tx, caller, rows)
          : { changed: await putManyAnyway(tx, caller, rows), stale: [] };
        const added = changed.filter(({ version }) => version === 1).length;
        quota.take(caller.tenantId, added, grownBytes(changed));
        if (changed.length > 0) await recordOverridesChanged(tx, caller, changed);
        return { stalePlaces: placesOf(stale, overrides) };
      });
      return new Set(result.stalePlaces ?? placesOf(result.stale ?? [], overrides));
    },

    removeMany: async (caller, removals) => {
      await write(caller, async (tx) => {
        const { removed, stale } = await removeManyAsRead(tx, caller, lastOfEach(removals));
        if (stale.length > 0) {
          const names = new Set(stale.map(nameOf));
          throw textsChanged(removals.flatMap((one, place) => (names.has(nameOf(one)) ? [place] : [])));
        }
        if (removed.length > 0) await recordOverridesChanged(tx, caller, removed);
        return {};
      });
    },

    remove: async (caller, key, precondition) => {
      await write(caller, async (tx) => {
        if (await removeOne(tx, caller, key, precondition)) await recordOverridesChanged(tx, caller, [key]);
        return {};
      });
    },
  };
}

/**
 * What is stored of a batch for its retry, which has the same items: only the places of those that are stale, since their
 * names may be a megabyte.
 */
interface PutManyResult {
  stalePlaces?: number[];
  /** As the versions before stored it, also without any. */
  stale?: OverrideKey[];
}

/** Readings of all of a tenant's texts at the same time, one of a tenant; each has up to 40 MB. */
export const TEXT_READINGS = 2;

/** Reads what may be all of a tenant's texts, in turns of tenants. */
export const readAllTexts = <Result>(
  db: TenantDatabase<Tx>,
  readings: FairPlaces,
  tenantId: string,
  read: (tx: Tx) => Promise<Result>,
): Promise<Result> => readings.run({ tenantId, userId: '' }, () => db.inTenant(tenantId, read));

/** Characters of a tenant's texts that one reading of them holds, with their keys: the most that a tenant can have in use. */
export const READ_CHARACTERS_MAX = 4_000_000;
/** Texts of it: each takes memory however short it is, as much as a hundred characters or more. */
export const READ_TEXTS_MAX = 100_000;

/** What was read of a tenant's texts: those that are more than one reading holds are cut, the first by name kept. */
export interface FirstTexts<Text> {
  texts: Text[];
  areAll: boolean;
}

/** A row of texts in the order of their names. */
export interface Sized {
  /** Characters of it and of all before it. */
  size: number;
}

/** Reads rows that end with the first one with which they are too many, if there is one. */
export function firstTexts<Row extends Sized>(rows: Row[]): FirstTexts<Row> {
  const areAll = rows.length <= READ_TEXTS_MAX && (rows.at(-1)?.size ?? 0) <= READ_CHARACTERS_MAX;
  return { texts: areAll ? rows : rows.slice(0, -1), areAll };
}

/** Some of the texts of a list, in the order of their names. */
interface ListPiece extends Sized {
  /** As JSON, without the brackets around all of them. */
  members: string;
  count: number;
}

/** Texts in the order of their names, up to the first one with which they are too many, in pieces of about 64 kB. */
const LIST = `
  SELECT string_agg(concat(to_json(key), ':', to_json(value)), ',' ORDER BY key) AS members,
         count(*)::int AS count, max(size)::float8 AS size
  FROM (
    SELECT key, value, length(key) + length(value) AS length,
           sum(length(key) + length(value)) OVER (ORDER BY key ROWS UNBOUNDED PRECEDING) AS size
      FROM (
        SELECT key, value FROM override WHERE tenant_id = $1::uuid AND resource_name = $2 AND culture_name = $3
        ORDER BY key LIMIT ${READ_TEXTS_MAX + 1}
      ) AS first
  ) AS own WHERE size - length <= $4 GROUP BY size / 65536 ORDER BY size`;

const IN_CULTURES = `
  SELECT resource_name AS "resourceName", culture_name AS "cultureName", key, value, size::float8 AS size FROM (
    SELECT resource_name, culture_name, key, value, length(key) + length(value) AS length,
           sum(length(key) + length(value))
             OVER (ORDER BY resource_name, key, culture_name ROWS UNBOUNDED PRECEDING) AS size
      FROM (
        SELECT resource_name, culture_name, key, value FROM override
        WHERE tenant_id = $1::uuid AND culture_name = ANY ($2::text[])
        ORDER BY resource_name, key, culture_name LIMIT ${READ_TEXTS_MAX + 1}
      ) AS first
  ) AS own WHERE size - length <= $3 ORDER BY resource_name, key, culture_name`;

/** There are fewer languages; names of cultures can be made up without end. */
const CULTURES_MAX = 1_000;

/** Skips through the index, so that the cost depends on the number of cultures, not of rows. */
const CULTURES = `
  WITH RECURSIVE culture AS (
    (SELECT culture_name FROM override WHERE tenant_id = $1::uuid ORDER BY culture_name LIMIT 1)
    UNION ALL
    SELECT (SELECT next.culture_name FROM override next
            WHERE next.tenant_id = $1::uuid AND next.culture_name > culture.culture_name
            ORDER BY next.culture_name LIMIT 1)
    FROM culture WHERE culture.culture_name IS NOT NULL
  )
  SELECT culture_name FROM culture WHERE culture_name IS NOT NULL LIMIT ${CULTURES_MAX}`;

/** Returns those that it changes: what a text is already is not written again. */
const PUT_MANY = `
  INSERT INTO override (tenant_id, id, resource_name, culture_name, key, value, replaced_value, modified_by)
  SELECT $1::uuid, item.id, item.resource_name, item.culture_name, item.key, item.value, item.replaced_value, $2
  FROM unnest($3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[])
    AS item (id, resource_name, culture_name, key, value, replaced_value)
  ON CONFLICT ON CONSTRAINT override_of_text DO UPDATE SET
    value = excluded.value, replaced_value = excluded.replaced_value, version = override.version + 1,
    modified_at = now(), modified_by = excluded.modified_by
  WHERE (override.value, override.replaced_value) IS DISTINCT FROM (excluded.value, excluded.replaced_value)
  RETURNING resource_name AS "resourceName", culture_name AS "cultureName", key, version`;

/**
 * The same for texts of which some ($9) are written only where they still are as they were read ($10), or are what is
 * written already, as when a batch is sent again; returns the ones and the others. Those that are there are locked first,
 * in the order of the index; one that comes while this is written is of another version than expected.
 */
const PUT_MANY_AS_READ = `
  WITH item AS (
    SELECT * FROM unnest($3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::boolean[], $10::text[])
      WITH ORDINALITY AS item (id, resource_name, culture_name, key, value, replaced_value, is_guarded, former_value, place)
  ), known AS (
    SELECT item.place, own.version, own.value,
           (own.value, own.replaced_value) IS NOT DISTINCT FROM (item.value, item.replaced_value) AS is_same
    FROM item CROSS JOIN LATERAL (
      SELECT version, value, replaced_value FROM override
       WHERE override.tenant_id = $1::uuid AND override.resource_name = item.resource_name
         AND override.culture_name = item.culture_name AND override.key = item.key
      LIMIT 1 FOR UPDATE
    ) AS own
  ), written AS (
  INSERT INTO override (tenant_id, id, resource_name, culture_name, key, value, replaced_value, modified_by, version)
  SELECT $1::uuid, item.id, item.resource_name, item.culture_name, item.key, item.value, item.replaced_value, $2,
         coalesce(known.version, 0) + 1
  FROM item LEFT JOIN known USING (place)
  WHERE known.is_same IS NOT TRUE
    AND (NOT item.is_guarded OR known.value IS NOT DISTINCT FROM item.former_value OR known.value = item.value)
  ORDER BY item.place
  ON CONFLICT ON CONSTRAINT override_of_text DO UPDATE SET
    value = excluded.value, replaced_value = excluded.replaced_value, version = override.version + 1,
    modified_at = now(), modified_by = excluded.modified_by
  WHERE excluded.version = override.version + 1 OR excluded.id = ANY ($11::uuid[])
  RETURNING resource_name, culture_name, key, version
  )
  SELECT resource_name AS "resourceName", culture_name AS "cultureName", key, version, true AS "isChanged" FROM written
  UNION ALL
  SELECT item.resource_name, item.culture_name, item.key, known.version, false
  FROM item JOIN known USING (place) WHERE known.is_same`;

/** Those of which $5 is true only where they still are as they were read ($6). */
const REMOVE_MANY = `
  DELETE FROM override
   USING unnest($2::text[], $3::text[], $4::text[], $5::boolean[], $6::text[])
     AS item (resource_name, culture_name, key, is_guarded, former_value)
   WHERE override.tenant_id = $1::uuid AND override.resource_name = item.resource_name
     AND override.culture_name = item.culture_name AND override.key = item.key
     AND (NOT item.is_guarded OR override.value = item.former_value)
  RETURNING override.resource_name AS "resourceName", override.culture_name AS "cultureName", override.key`;

const STILL_THERE = `
  SELECT item.resource_name AS "resourceName", item.culture_name AS "cultureName", item.key
  FROM unnest($2::text[], $3::text[], $4::text[]) AS item (resource_name, culture_name, key)
  CROSS JOIN LATERAL (
    SELECT FROM override
     WHERE override.tenant_id = $1::uuid AND override.resource_name = item.resource_name
       AND override.culture_name = item.culture_name AND override.key = item.key
    LIMIT 1
  ) AS own`;

/**
 * Each text once, in the order of the index, in which two batches lock them and do not wait for each other. One with
 * guarded texts locks those that are there before it adds any; where it and another wait for each other, the database ends
 * one of them, which is repeated.
 */
function lastOfEach<One extends OverrideKey>(overrides: readonly One[]): One[] {
  const lastByKey = new Map(overrides.map((one) => [nameOf(one), one]));
  return [...lastByKey].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, one]) => one);
}

/** The places of all items of these names. */
function placesOf(keys: readonly OverrideKey[], overrides: readonly PlacedOverride[]): number[] {
  const names = new Set(keys.map(nameOf));
  return overrides.flatMap((one) => (names.has(nameOf(one)) ? [one.place] : []));
}

const nameOf = ({ resourceName, cultureName, key }: OverrideKey): string =>
  JSON.stringify([resourceName, cultureName, key]);

/** How many bytes more long texts have once some of these are written, by what is stored of them before. */
async function longTextsGrowBy(
  tx: Tx,
  { tenantId }: Caller,
  overrides: readonly Override[],
): Promise<(written: readonly OverrideKey[]) => number> {
  const long = overrides.filter((one) => longOverrideBytes(one) > 0);
  if (long.length === 0) return () => 0;
  await readByIndexes(tx, 'for-values');
  const stored = await storedLongBytes(tx, tenantId, long);
  const growthOf = new Map(long.map((one) => [nameOf(one), longOverrideBytes(one) - (stored.get(one) ?? 0)]));
  return (written) => written.reduce((sum, one) => sum + (growthOf.get(nameOf(one)) ?? 0), 0);
}

const columnsOf = (rows: readonly OverrideKey[]): string[][] => [
  rows.map(({ resourceName }) => resourceName),
  rows.map(({ cultureName }) => cultureName),
  rows.map(({ key }) => key),
];

const putManyValues = (caller: Caller, rows: readonly WrittenOverride[]): unknown[] => [
  caller.tenantId,
  caller.userId,
  rows.map(() => newId()),
  ...columnsOf(rows),
  rows.map(({ value }) => value),
  rows.map(({ replacedValue }) => replacedValue),
];

/** An override that a batch changed; a new one is of the first version. */
type Changed = OverrideKey & { version: number };

const putManyAnyway = (tx: Tx, caller: Caller, rows: readonly WrittenOverride[]): Promise<Changed[]> =>
  tx.$queryRawUnsafe<Changed[]>(PUT_MANY, ...putManyValues(caller, rows));

async function putManyAsRead(
  tx: Tx,
  caller: Caller,
  rows: readonly BatchOverride[],
): Promise<{ changed: Changed[]; stale: OverrideKey[] }> {
  const values = putManyValues(caller, rows);
  const ids = values[2] as string[];
  const isGuarded = rows.map(({ formerValue }) => formerValue !== undefined);
  await readByIndexes(tx, 'for-values');
  const written = await tx.$queryRawUnsafe<(Changed & { isChanged: boolean })[]>(
    PUT_MANY_AS_READ,
    ...values,
    isGuarded,
    rows.map(({ formerValue }) => formerValue ?? null),
    ids.filter((_, index) => !isGuarded[index]),
  );
  const names = new Set(written.map(nameOf));
  return {
    changed: written.filter(({ isChanged }) => isChanged),
    stale: rows.filter((row) => !names.has(nameOf(row))),
  };
}

/** Stale are those that are there all the same, since they are another value than the former one. */
async function removeManyAsRead(
  tx: Tx,
  caller: Caller,
  rows: readonly Removal[],
): Promise<{ removed: OverrideKey[]; stale: OverrideKey[] }> {
  await readByIndexes(tx, 'for-values');
  const guarded = rows.filter(({ formerValue }) => formerValue !== undefined);
  const removed = await tx.$queryRawUnsafe<OverrideKey[]>(
    REMOVE_MANY,
    caller.tenantId,
    ...columnsOf(rows),
    rows.map(({ formerValue }) => formerValue !== undefined),
    rows.map(({ formerValue }) => formerValue ?? null),
  );
  const stale =
    guarded.length === 0
      ? []
      : await tx.$queryRawUnsafe<OverrideKey[]>(STILL_THERE, caller.tenantId, ...columnsOf(guarded));
  return { removed, stale };
}

async function putOne(
  tx: Tx,
  { tenantId, userId }: Caller,
  override: WrittenOverride,
  precondition: Precondition,
) {
  const { value, replacedValue, ...key } = override;
  const change = {
    value,
    replacedValue,
    version: { increment: 1 },
    modifiedAt: new Date(),
    modifiedBy: userId,
  };
  if (precondition === undefined) {
    return tx.override.upsert({
      where: uniqueKey(tenantId, key),
      create: { tenantId, id: newId(), ...override, modifiedBy: userId },
      update: change,
    });
  }
  const row = await tx.override.findUnique({ where: uniqueKey(tenantId, key) });
  requirePrecondition(precondition, row ? tagOf(row) : undefined);
  if (!row) {
    const data = { tenantId, id: newId(), ...override, modifiedBy: userId };
    const { count } = await tx.override.createMany({ data, skipDuplicates: true });
    if (count === 0) throw staleVersion();
    return { id: data.id, version: 1 };
  }
  const { id, version } = row;
  const { count } = await tx.override.updateMany({ where: { tenantId, id, version }, data: change });
  if (count === 0) throw staleVersion();
  return { id, version: version + 1 };
}

/** Returns whether there was one. */
async function removeOne(
  tx: Tx,
  { tenantId }: Caller,
  key: OverrideKey,
  precondition: Precondition,
): Promise<boolean> {
  const row = await tx.override.findUnique({ where: uniqueKey(tenantId, key) });
  requirePrecondition(precondition, row ? tagOf(row) : undefined);
  if (!row) return false;
  const { id, version } = row;
  const asRead = precondition === undefined ? {} : { version };
  const { count } = await tx.override.deleteMany({ where: { tenantId, id, ...asRead } });
  if (count === 0 && precondition !== undefined) throw staleVersion();
  return count > 0;
}

const uniqueKey = (tenantId: string, { resourceName, cultureName, key }: OverrideKey) => ({
  tenantId_resourceName_cultureName_key: { tenantId, resourceName, cultureName, key },
});

const tagOf = ({ id, version }: { id: string; version: number }): string => entityTag(`${id}-${version}`);
