import { escapeLike } from '@plinth/kernel/like-pattern';
import type { TenantDatabase } from '@plinth/runtime/postgres/postgres';
import type { FairPlaces } from '@plinth/runtime/process/fair-places';
import type { TextName, WrittenOverride } from '../domain/text-list';
import type { Prisma } from '../generated/client';
import {
  firstTexts,
  READ_CHARACTERS_MAX,
  READ_TEXTS_MAX,
  readAllTexts,
  type FirstTexts,
  type Sized,
} from './override-store';

export interface TextSelection {
  /** Names to list besides those that the tenant overrides. */
  names: readonly TextName[];
  /** Which of the names that the tenant overrides to list; undefined for none of them. */
  own: { resourceName?: string | undefined; search: string } | undefined;
  descending: boolean;
  limit: number;
  offset: number;
}

/** Lists of the texts that a tenant can read or overrides. */
export interface TextListStore {
  names(tenantId: string, selection: TextSelection): Promise<{ rows: TextName[]; totalCount: number }>;
  /** The overrides of these texts in these cultures. */
  overridesOf(
    tenantId: string,
    names: readonly TextName[],
    cultures: readonly string[],
  ): Promise<WrittenOverride[]>;
  /** The overrides of texts that the platform has, or had. */
  replacing(tenantId: string): Promise<FirstTexts<WrittenOverride>>;
}

interface NameRow extends TextName {
  total: number;
}

export function textListStore(
  db: TenantDatabase<Prisma.TransactionClient>,
  readings: FairPlaces,
): TextListStore {
  return {
    names: (tenantId, { names, own, descending, limit, offset }) =>
      db.inTenant(tenantId, async (tx) => {
        const rows = await tx.$queryRawUnsafe<NameRow[]>(
          descending ? NAMES_DESCENDING : NAMES,
          tenantId,
          names.map(({ resourceName }) => resourceName),
          names.map(({ key }) => key),
          own !== undefined,
          own?.resourceName ?? null,
          own?.search ? `%${escapeLike(own.search)}%` : null,
          limit,
          offset,
        );
        const totalCount = rows[0]?.total ?? 0;
        return { rows: rows.map(({ resourceName, key }) => ({ resourceName, key })), totalCount };
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

    replacing: (tenantId) =>
      readAllTexts(db, readings, tenantId, async (tx) =>
        firstTexts(
          await tx.$queryRawUnsafe<(WrittenOverride & Sized)[]>(REPLACING, tenantId, READ_CHARACTERS_MAX),
        ),
      ),
  };
}

/** Beyond the last row nobody knows how many there are, but nobody asks there either: a page begins within the list. */
const listNames = (direction: 'ASC' | 'DESC') => `
  WITH name AS (
    SELECT resource_name COLLATE "C" AS resource_name, key COLLATE "C" AS key
      FROM unnest($2::text[], $3::text[]) AS platform (resource_name, key)
    UNION
    SELECT resource_name, key FROM override
     WHERE $4::boolean AND tenant_id = $1::uuid
       AND ($5::text IS NULL OR resource_name = $5)
       AND ($6::text IS NULL OR key ILIKE $6 OR value ILIKE $6)
  )
  SELECT resource_name AS "resourceName", key, (SELECT count(*)::int FROM name) AS total
    FROM name ORDER BY resource_name ${direction}, key LIMIT $7 OFFSET $8`;
const NAMES = listNames('ASC');
const NAMES_DESCENDING = listNames('DESC');

const OVERRIDES_OF = `
  SELECT o.resource_name AS "resourceName", o.culture_name AS "cultureName", o.key, o.value,
         o.replaced_value AS "replacedValue"
    FROM unnest($2::text[], $3::text[]) AS name (resource_name, key)
    JOIN override o ON o.tenant_id = $1::uuid AND o.resource_name = name.resource_name AND o.key = name.key
   WHERE o.culture_name = ANY ($4::text[])`;

const REPLACING = `
  SELECT resource_name AS "resourceName", culture_name AS "cultureName", key, value,
         replaced_value AS "replacedValue", size::float8 AS size
  FROM (
    SELECT *, length(key) + length(value) + length(replaced_value) AS length,
           sum(length(key) + length(value) + length(replaced_value))
             OVER (ORDER BY resource_name, key, culture_name ROWS UNBOUNDED PRECEDING) AS size
      FROM (
        SELECT * FROM override WHERE tenant_id = $1::uuid AND replaced_value IS NOT NULL
        ORDER BY resource_name, key, culture_name LIMIT ${READ_TEXTS_MAX + 1}
      ) AS first
  ) AS own WHERE size - length <= $2 ORDER BY resource_name, key, culture_name`;
