import type { Caller } from '@plinth/kernel/caller';
import { parseSelection, type Filter, type Selection, type SelectionText } from '@plinth/kernel/list-query';
import { invalid } from '@plinth/kernel/problem';
import { inTenantConnection } from '@plinth/runtime/postgres';
import { escapeIdentifier, type Pool } from 'pg';
import { escapeLike } from '../prisma-list';
import { listRulesOf, type ExchangeDefinition } from './definition';
import { relatedKey, relationJoins } from './relation';

const ROWS_PER_FETCH = 2_000;
const BULK_LIMITS = `SET LOCAL statement_timeout = '30min'; SET LOCAL idle_in_transaction_session_timeout = '30min'`;

export interface ExportStart {
  definition: ExchangeDefinition;
  fields: readonly string[];
  includeId: boolean;
  selection: SelectionText;
  caller: Caller;
}

/**
 * Streams the selected rows in batches, all as they were when it began. A batch is the text of a JSON array of rows:
 * Postgres writes it and nobody reads it on the way, which is what makes an export quick.
 */
export async function streamExport(
  pool: Pool,
  start: ExportStart,
  send: (rows: string, count: number) => Promise<void>,
): Promise<void> {
  const { text, values } = exportQuery(start);
  await inTenantConnection(
    pool,
    start.caller.tenantId,
    async (connection) => {
      await connection.query(BULK_LIMITS);
      await connection.query({ text: `DECLARE rows NO SCROLL CURSOR FOR ${text}`, values });
      const fetch = () =>
        connection.query<[string]>({ text: `FETCH ${ROWS_PER_FETCH} FROM rows`, rowMode: 'array' });
      let next = fetch();
      for (;;) {
        const { rows } = await next;
        if (rows.length === 0) return;
        next = fetch();
        // When sending fails, the fetch under way must not become an unhandled rejection.
        next.catch(() => undefined);
        await send(`[${rows.map(([row]) => row).join(',')}]`, rows.length);
      }
    },
    'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY',
  );
}

/** The statement of an export; exported fields are JSON values in the order of the columns. */
export function exportQuery({ definition, fields, includeId, selection: text, caller }: ExportStart): {
  text: string;
  values: unknown[];
} {
  const unknown = fields.findIndex((property) => !(property in definition.fields));
  if (unknown >= 0)
    throw invalid({ [`selectedFields[${unknown}]`]: 'Enum' }, `There is no field "${fields[unknown]}".`);
  const selection = parseSelection(text, listRulesOf(definition));
  const values: unknown[] = [caller.tenantId];
  const parameter = (value: unknown): string => `$${values.push(value)}`;
  const columns = fields.map((property) => exportedColumn(definition, property));
  const visible = definition.visibleTo?.(caller);
  const conditions = [
    't.tenant_id = $1::uuid',
    ...(visible ? [`(${visible})`] : []),
    ...selection.filters.map((filter) => filterSql(definition, filter, parameter)),
    ...searchSql(definition, selection, parameter),
  ];
  const order = [
    ...selection.sort.map(
      ({ field, descending }) => `${columnOf(definition, field)} ${descending ? 'DESC' : 'ASC'} NULLS LAST`,
    ),
    't.id',
  ];
  return {
    text: `SELECT json_build_array(${[...(includeId ? ['t.id'] : []), ...columns].join(', ')})::text
      FROM ${escapeIdentifier(definition.table)} AS t ${relationJoins(definition)}
      WHERE ${conditions.join(' AND ')} ORDER BY ${order.join(', ')}`,
    values,
  };
}

function columnOf({ fields }: ExchangeDefinition, property: string): string {
  const { column, relation } = fields[property]!;
  return relation ? relatedKey(property, relation) : `t.${escapeIdentifier(column)}`;
}

function exportedColumn(definition: ExchangeDefinition, property: string): string {
  const field = definition.fields[property]!;
  if (field.exportAs) return field.exportAs;
  const column = columnOf(definition, property);
  switch (field.type) {
    case 'timestamp':
      return `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
    case 'date':
      return `to_char(${column}, 'YYYY-MM-DD')`;
    case 'integer':
    case 'number':
      // As text, because a number of JSON has no more digits than a double.
      return `${column}::text`;
    default:
      return column;
  }
}

const comparisons: Partial<Record<Filter['operator'], string>> = {
  eq: '=',
  gt: '>',
  gte: '>=',
  lt: '<',
  lte: '<=',
};

function filterSql(
  definition: ExchangeDefinition,
  { field, operator, values }: Filter,
  parameter: (value: unknown) => string,
): string {
  const column = columnOf(definition, field);
  const { relation } = definition.fields[field]!;
  const { sqlType } = relation?.key ?? definition.fields[field]!;
  const value = (index: number) => `${parameter(values[index])}::${sqlType}`;
  switch (operator) {
    case 'in':
      return `${column} = ANY(${parameter(values)}::${sqlType}[])`;
    case 'between':
      return `${column} BETWEEN ${value(0)} AND ${value(1)}`;
    case 'contains':
      return like(column, `%${escapeLike(String(values[0]))}%`, parameter);
    case 'startsWith':
      return like(column, `${escapeLike(String(values[0]))}%`, parameter);
    case 'endsWith':
      return like(column, `%${escapeLike(String(values[0]))}`, parameter);
    default:
      return `${column} ${comparisons[operator]} ${value(0)}`;
  }
}

/** Silences, row 73: these ignore case, in any alphabet, so a column compared byte by byte is compared as text here. */
const like = (column: string, pattern: string, parameter: (value: unknown) => string): string =>
  `${column} COLLATE "default" ILIKE ${parameter(pattern)}`;

function searchSql(
  definition: ExchangeDefinition,
  { search }: Selection,
  parameter: (value: unknown) => string,
): string[] {
  if (search === undefined) return [];
  const pattern = parameter(`%${escapeLike(search)}%`);
  const matches = definition.searchable.map(
    (property) => `${columnOf(definition, property)} COLLATE "default" ILIKE ${pattern}`,
  );
  return [matches.length > 0 ? `(${matches.join(' OR ')})` : 'false'];
}
