import type { BatchContext, ExchangeDefinition } from '../definition';
import type { Relation } from '../field';
import { computed, inIndexOrder, lookUp } from '../look-up';
import { errorMessage, shownValue, type RowError } from '../row-error';
import { rowMessage } from '../row-message';
import type { ConvertedRow } from './convert-rows';

/** Rows with the ids of their related rows, and the errors of the others. */
export interface Resolution {
  rows: readonly ConvertedRow[];
  errors: RowError[];
}

/**
 * Makes a function that replaces the keys of related rows by their ids, with one query for each relation of a batch.
 * Invalid rows are only checked, so that one report lists everything that is wrong with them.
 * A related row that is deleted later violates the foreign key of the table.
 */
export function relationResolver(definition: ExchangeDefinition, columns: readonly string[]) {
  const relations = columns.flatMap((property) => {
    const relation = definition.fields[property]?.relation;
    return relation ? [{ property, relation }] : [];
  });

  return async (
    rows: readonly ConvertedRow[],
    invalidRows: readonly ConvertedRow[],
    context: BatchContext,
  ): Promise<Resolution> => {
    if (relations.length === 0) return { rows, errors: [] };
    const all = [...rows, ...invalidRows];
    const errors: RowError[] = [];
    const idsByRow = new Map<ConvertedRow, Record<string, string>>();
    for (const { property, relation } of relations) {
      const idsByKey = await findRelatedIds(relation, keysOf(all, property), context);
      for (const row of all) {
        const key = row.values[property];
        if (key === null || key === undefined) continue;
        const ids = idsByKey.get(String(key)) ?? [];
        if (ids.length === 1) idsByRow.set(row, { ...idsByRow.get(row), [property]: ids[0]! });
        else errors.push(referenceError(row, property, definition.fields[property]!.header, ids.length));
      }
    }
    const failed = new Set(errors.map(({ rowNumber }) => rowNumber));
    const resolved = rows
      .filter(({ rowNumber }) => !failed.has(rowNumber))
      .map((row) => ({ ...row, values: { ...row.values, ...idsByRow.get(row) } }));
    return { rows: resolved, errors };
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
async function findRelatedIds(
  { table, key }: Relation,
  keys: readonly string[],
  { connection, caller }: BatchContext,
): Promise<Map<string, string[]>> {
  if (keys.length === 0) return new Map();
  const related = lookUp({
    table,
    columns: [key.column],
    values: ['wanted.value'],
    select: 't.id',
    limit: 2,
  });
  const wanted = computed({ key: 'key', value: `key::${key.sqlType}` }, 'unnest($2::text[]) AS key');
  const { rows } = await inIndexOrder(connection, () =>
    connection.query<{ key: string; id: string }>(
      `SELECT wanted.key, related.id FROM ${wanted} AS wanted CROSS JOIN ${related} AS related`,
      [caller.tenantId, keys],
    ),
  );
  const ids = new Map<string, string[]>();
  for (const row of rows) ids.set(row.key, [...(ids.get(row.key) ?? []), row.id]);
  return ids;
}

function referenceError(row: ConvertedRow, property: string, header: string, found: number): RowError {
  const value = shownValue(String(row.values[property]));
  return {
    rowNumber: row.rowNumber,
    kind: 'Identity',
    column: property,
    value,
    code: `Service:Identity:${found === 0 ? 'UnknownReference' : 'AmbiguousReference'}`,
    ...errorMessage(rowMessage(found === 0 ? 'unknownReference' : 'ambiguousReference', value), header),
  };
}
