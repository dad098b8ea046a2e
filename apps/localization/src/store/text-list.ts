import { escapeLike } from '@plinth/kernel/like-pattern';
import { likeIgnoringCase } from '@plinth/runtime/postgres/ignoring-case';
import type { TenantDatabase } from '@plinth/runtime/postgres/postgres';
import { readByIndexes } from '@plinth/runtime/postgres/read-by-indexes';
import { turnsAt, type FairPlaces } from '@plinth/runtime/process/fair-places';
import type { TextName, WrittenOverride } from '../domain/text-list';
import type { Prisma } from '../generated/client';
import { DEFAULT_CULTURE } from '../domain/languages';
import { mergeTexts, type BaseTexts } from '../domain/texts';
import { READ_TEXTS_MAX, readAllTexts } from './override-store';

export interface TextSelection {
  /** Names to list besides those that the tenant overrides. */
  names: readonly TextName[];
  /** Which of the names that the tenant overrides to list; undefined for none of them. */
  own: OwnTexts | undefined;
  page: PageOfNames;
  wantsTotalCount: boolean;
}

/** Texts that a tenant overrides, in one resource or in all. */
export interface OwnTexts {
  resourceName?: string | undefined;
  search: string;
}

export interface PageOfNames {
  descending: boolean;
  limit: number;
  offset: number;
}

export interface NamesOfTexts {
  rows: TextName[];
  /** Null where it was not asked for. */
  totalCount: number | null;
}

/** Lists of the texts that a tenant can read or overrides. */
export interface TextListStore {
  /** In which they are read, one of a tenant at a time. */
  readonly listings: FairPlaces;
  names(tenantId: string, selection: TextSelection): Promise<NamesOfTexts>;
  /** Of the first of a tenant's texts, those for which the platform says something else than when they were written. */
  drifted(tenantId: string, own: OwnTexts, page: PageOfNames): Promise<NamesOfTexts & { areAll: boolean }>;
  /** The overrides of these texts in these cultures. */
  overridesOf(
    tenantId: string,
    names: readonly TextName[],
    cultures: readonly string[],
  ): Promise<WrittenOverride[]>;
}

interface NameRow extends TextName {
  total: number | null;
}

/** A name of a page; one without names is a row without a name, which tells the rest. */
type DriftedRow = { total: number; isCut: boolean } & (TextName | { resourceName: null; key: null });

/**
 * Lists of all of a tenant's texts that are read at the same time, one of a tenant. They have places of their own: a tenant
 * may have a hundred times as many texts as a reading holds, and texts are read with every page that people open.
 */
const TEXT_LISTINGS = 2;

export function textListStore(db: TenantDatabase<Prisma.TransactionClient>, base: BaseTexts): TextListStore {
  const listings = turnsAt(TEXT_LISTINGS);
  const drifted = { ascending: listDrifted(base, 'ASC'), descending: listDrifted(base, 'DESC') };
  const platformTexts = JSON.stringify(
    Object.fromEntries(Object.keys(base).map((culture) => [culture, mergeTexts(base, [], culture)])),
  );

  return {
    listings,

    names: (tenantId, { names, own, page, wantsTotalCount }) =>
      readAllTexts(db, listings, tenantId, async (tx) => {
        const selection = [
          tenantId,
          names.map(({ resourceName }) => resourceName),
          names.map(({ key }) => key),
          own !== undefined,
          own?.resourceName ?? null,
          patternOf(own),
          page.limit,
          page.offset,
        ];
        // In another order all are read all the same. Of those that are searched a page has the first ones that are found.
        const readsPage = !wantsTotalCount && !page.descending;
        if (readsPage) await readByIndexes(tx, 'for-values');
        const ofAll = page.descending ? NAMES_DESCENDING : NAMES;
        const rows = await tx.$queryRawUnsafe<NameRow[]>(readsPage ? NAMES_OF_PAGE : ofAll, ...selection);
        const totalCount = wantsTotalCount ? (rows[0]?.total ?? 0) : null;
        return { rows: rows.map(({ resourceName, key }) => ({ resourceName, key })), totalCount };
      }),

    drifted: (tenantId, own, { descending, limit, offset }) =>
      readAllTexts(db, listings, tenantId, async (tx) => {
        await readByIndexes(tx, 'for-values');
        const rows = await tx.$queryRawUnsafe<DriftedRow[]>(
          descending ? drifted.descending : drifted.ascending,
          tenantId,
          platformTexts,
          own.resourceName ?? null,
          patternOf(own),
          limit,
          offset,
        );
        const { total, isCut } = rows[0]!;
        return {
          rows: rows.flatMap(({ resourceName, key }) =>
            resourceName === null ? [] : [{ resourceName, key }],
          ),
          totalCount: total,
          areAll: !isCut,
        };
      }),

    overridesOf: (tenantId, names, cultures) =>
      db.inTenant(tenantId, (tx) =>
        tx.$queryRawUnsafe<WrittenOverride[]>(
          OVERRIDES_OF,
          tenantId,
          names.map(({ resourceName }) => resourceName),
          names.map(({ key }) => key),
          cultures,
        ),
      ),
  };
}

const patternOf = (own: OwnTexts | undefined): string | null =>
  own?.search ? `%${escapeLike(own.search)}%` : null;

const isFound = (pattern: string): string =>
  `${pattern}::text IS NULL OR ${likeIgnoringCase('key', pattern)} OR ${likeIgnoringCase('value', pattern)}`;

const PLATFORM = `
    SELECT resource_name COLLATE "C" AS resource_name, key COLLATE "C" AS key
      FROM unnest($2::text[], $3::text[]) AS platform (resource_name, key)`;
const ofTenant = (columns: string): string => `
    SELECT ${columns} FROM override
     WHERE $4::boolean AND tenant_id = $1::uuid
       AND ($5::text IS NULL OR resource_name = $5)
       AND (${isFound('$6')})`;

/** Beyond the last row nobody knows how many there are, but nobody asks there either: a page begins within the list. */
const listNames = (direction: 'ASC' | 'DESC') => `
  WITH name AS (${PLATFORM} UNION ${ofTenant('resource_name, key')})
  SELECT resource_name AS "resourceName", key, (SELECT count(*)::int FROM name) AS total
    FROM name ORDER BY resource_name ${direction}, key LIMIT $7 OFFSET $8`;
const NAMES = listNames('ASC');
const NAMES_DESCENDING = listNames('DESC');

/**
 * The same without a total: of the names that the tenant overrides, only those up to the end of the page are read, in the
 * order of their index. Where hardly any holds what is searched for, that is all of them, which takes twice as long as in
 * their own order; who scrolls through what was found has found many.
 */
const NAMES_OF_PAGE = `
  WITH name AS (
    ${PLATFORM}
    UNION
    (${ofTenant('DISTINCT resource_name, key')} ORDER BY resource_name, key LIMIT $7::bigint + $8::bigint)
  )
  SELECT resource_name AS "resourceName", key, NULL AS total
    FROM name ORDER BY resource_name, key LIMIT $7::bigint OFFSET $8::bigint`;

const OVERRIDES_OF = `
  SELECT o.resource_name AS "resourceName", o.culture_name AS "cultureName", o.key, o.value,
         o.replaced_value AS "replacedValue"
    FROM unnest($2::text[], $3::text[]) AS name (resource_name, key)
    JOIN override o ON o.tenant_id = $1::uuid AND o.resource_name = name.resource_name AND o.key = name.key
   WHERE o.culture_name = ANY ($4::text[])`;

/**
 * Compares the first of a tenant's texts with those of the platform where they are stored, since they are very many and
 * few have drifted: a process that read them would keep everybody waiting meanwhile.
 */
const listDrifted = (base: BaseTexts, direction: 'ASC' | 'DESC') => `
  WITH first AS MATERIALIZED (
    SELECT resource_name, key,
           replaced_value IS DISTINCT FROM ($2::jsonb #>> ARRAY[${platformCulture(base)}, resource_name, key])
             AND (${isFound('$4')}) AS is_listed
      FROM override
     WHERE tenant_id = $1::uuid AND replaced_value IS NOT NULL AND ($3::text IS NULL OR resource_name = $3)
     ORDER BY resource_name, key LIMIT ${READ_TEXTS_MAX + 1}
  ), name AS (
    SELECT DISTINCT resource_name, key FROM first WHERE is_listed
  )
  SELECT resource_name AS "resourceName", key, counted.total, counted."isCut"
    FROM (SELECT (SELECT count(*)::int FROM name) AS total,
                 (SELECT count(*) FROM first) > ${READ_TEXTS_MAX} AS "isCut") AS counted
    LEFT JOIN (SELECT * FROM name ORDER BY resource_name ${direction}, key LIMIT $5 OFFSET $6) AS page ON true
   ORDER BY resource_name ${direction}, key`;

/** The nearest culture in which the platform has texts, as `findBaseText` goes through its fallbacks. */
function platformCulture(base: BaseTexts): string {
  const mostSpecificFirst = Object.keys(base).toSorted((left, right) => right.length - left.length);
  const cases = mostSpecificFirst.map(
    (culture) => `WHEN starts_with(culture_name || '-', '${culture}-') THEN '${culture}'`,
  );
  return `CASE ${cases.join(' ')} ELSE '${DEFAULT_CULTURE}' END`;
}
