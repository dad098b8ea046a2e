import { escapeIdentifier } from 'pg';
import { said, shownValue, type ConvertedRow } from './convert';
import type { BatchContext, ExchangeDefinition, RowFault } from './definition';
import type { ExchangeField, FieldOptions, Relation } from './field';
import { rowText } from './row-texts';

/** A column that holds the id of a row of another table, which files name by its natural key. */
export const relationField = ({
  references,
  ...options
}: FieldOptions & { references: Relation }): ExchangeField => {
  const { type, filterType, format, values, parse } = references.key;
  return {
    ...options,
    type,
    filterType,
    ...(format === undefined ? {} : { format }),
    ...(values === undefined ? {} : { values }),
    sqlType: 'uuid',
    parse,
    relation: references,
  };
};

const joined = (property: string): string => escapeIdentifier(`related ${property}`);

/** What exports show, filter and sort by instead of an id: the key of the related row. */
export const relatedKey = (property: string, { key }: Relation): string =>
  `${joined(property)}.${escapeIdentifier(key.column)}`;

/** The joins of all related tables; Postgres leaves out those that a query does not use. */
export const relationJoins = ({ fields }: ExchangeDefinition): string =>
  Object.entries(fields)
    .flatMap(([property, { column, relation }]) =>
      relation
        ? `LEFT JOIN ${escapeIdentifier(relation.table)} AS ${joined(property)}
            ON ${joined(property)}.tenant_id = t.tenant_id AND ${joined(property)}.id = t.${escapeIdentifier(column)}`
        : [],
    )
    .join(' ');

export interface Resolution {
  rows: readonly ConvertedRow[];
  faults: RowFault[];
}

/**
 * Makes a function that replaces the keys of related rows by their ids, with one query for each relation of a batch.
 * Rows that are faulty anyway are only looked at, so that all that is wrong with them is said at once.
 * What is deleted after that is refused by the table's foreign key.
 */
export function relationResolver(definition: ExchangeDefinition, columns: readonly string[]) {
  const relations = columns.flatMap((property) => {
    const relation = definition.fields[property]?.relation;
    return relation ? [{ property, relation }] : [];
  });

  return async (
    rows: readonly ConvertedRow[],
    faulty: readonly ConvertedRow[],
    context: BatchContext,
  ): Promise<Resolution> => {
    if (relations.length === 0) return { rows, faults: [] };
    const all = [...rows, ...faulty];
    const faults: RowFault[] = [];
    const idsByRow = new Map<ConvertedRow, Record<string, string>>();
    for (const { property, relation } of relations) {
      const found = await findRelated(relation, keysOf(all, property), context);
      for (const row of all) {
        const key = row.values[property];
        if (key === null || key === undefined) continue;
        const ids = found.get(String(key)) ?? [];
        if (ids.length === 1) idsByRow.set(row, { ...idsByRow.get(row), [property]: ids[0]! });
        else faults.push(unresolved(row, property, definition.fields[property]!.header, ids.length));
      }
    }
    const failed = new Set(faults.map(({ rowNumber }) => rowNumber));
    const resolved = rows
      .filter(({ rowNumber }) => !failed.has(rowNumber))
      .map((row) => ({ ...row, values: { ...row.values, ...idsByRow.get(row) } }));
    return { rows: resolved, faults };
  };
}

const keysOf = (rows: readonly ConvertedRow[], property: string): string[] => [
  ...new Set(
    rows
      .map(({ values }) => values[property])
      .filter((key) => key !== null && key !== undefined)
      .map(String),
  ),
];

/** The ids by key; two are enough to know that a key is ambiguous. */
async function findRelated(
  { table, key }: Relation,
  keys: readonly string[],
  { connection, caller }: BatchContext,
): Promise<Map<string, string[]>> {
  if (keys.length === 0) return new Map();
  const { rows } = await connection.query<{ key: string; id: string }>(
    `SELECT wanted.key, related.id FROM unnest($2::text[]) AS wanted (key)
     CROSS JOIN LATERAL (
       SELECT id FROM ${escapeIdentifier(table)} AS r
       WHERE r.tenant_id = $1::uuid AND r.${escapeIdentifier(key.column)} = wanted.key::${key.sqlType} LIMIT 2
     ) AS related`,
    [caller.tenantId, keys],
  );
  const ids = new Map<string, string[]>();
  for (const row of rows) ids.set(row.key, [...(ids.get(row.key) ?? []), row.id]);
  return ids;
}

function unresolved(row: ConvertedRow, property: string, header: string, found: number): RowFault {
  const value = shownValue(String(row.values[property]));
  return {
    rowNumber: row.rowNumber,
    kind: 'Identity',
    column: property,
    value,
    code: `Service:Identity:${found === 0 ? 'UnknownReference' : 'AmbiguousReference'}`,
    ...said(rowText(found === 0 ? 'unknownReference' : 'ambiguousReference', value), header),
  };
}
