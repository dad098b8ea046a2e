import { hasUnknownId, ID_PROPERTY, type BatchContext, type ExchangeDefinition } from '../definition';
import type { FieldValue } from '../field';
import { inIndexOrder, lookUp } from '../look-up';
import { keyOfRow, type ConvertedRow } from './convert-rows';
import { keyPartsSql, readKeyParts } from './key-parts';

/**
 * Makes a function that gives rows with an `Id` the parts of their keys for which the file has no column: they are those of
 * the table. Undefined where a file has all of them, or no `Id`.
 */
export function keyCompleter(definition: ExchangeDefinition, fileColumns: readonly string[]) {
  const missing = definition.key.filter((property) => !fileColumns.includes(property));
  if (missing.length === 0 || !fileColumns.includes(ID_PROPERTY)) return undefined;

  return async (
    rows: readonly ConvertedRow[],
    { connection, caller }: Pick<BatchContext, 'connection' | 'caller'>,
  ): Promise<void> => {
    const named = rows.filter(({ id }) => id !== null);
    if (named.length === 0) return;
    const row = lookUp({
      table: definition.table,
      columns: ['id'],
      values: ['wanted'],
      select: `t.id, ${keyPartsSql(definition, missing)} AS parts, ${hasUnknownId(definition, caller)} AS is_unknown`,
    });
    const found = await inIndexOrder(connection, () =>
      connection.query<{ id: string; parts: FieldValue[] }>(
        `SELECT found.id, found.parts FROM unnest($2::uuid[]) AS wanted CROSS JOIN ${row} AS found
         WHERE NOT found.is_unknown`,
        [caller.tenantId, named.map(({ id }) => id)],
      ),
    );
    const partsById = new Map(
      found.rows.map(({ id, parts }) => [id, readKeyParts(definition, parts, missing)]),
    );
    for (const row of named) {
      const stored = partsById.get(row.id!);
      if (!stored) continue;
      for (const [at, property] of missing.entries()) row.values[property] = stored[at]!;
      row.key = keyOfRow(definition, row.values);
    }
  };
}
