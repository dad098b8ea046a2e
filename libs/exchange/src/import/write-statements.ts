import type { Mode__Output } from '@plinth/proto/generated/plinth/exchange/v1/Mode';
import { escapeIdentifier, escapeLiteral } from 'pg';
import type { ExchangeDefinition, SystemValue } from '../definition';

/** Which rows an import writes: new ones, existing ones, or both. */
export type ImportMode = Mode__Output;

/** A row as it was written: the row of the file, the id of a row that was there before, and the (sub)transaction. */
export type WrittenRow = [importRow: number, updatedId: string | null, transaction: string];

/** The SQL value of a column that is in no file. */
export const systemSql = (value: SystemValue, column: string, callerId: string): string => {
  switch (value) {
    case 'new-id':
      return '(r->>1)::uuid';
    case 'caller-id':
      return escapeLiteral(callerId);
    case 'now':
      return 'now()';
    case 'one':
      return '1';
    case 'next':
      return `t.${escapeIdentifier(column)} + 1`;
  }
};

/** The statements of one import. Their parameters are the tenant, the rows as JSON, and the job. */
export function writeStatements(
  definition: ExchangeDefinition,
  mapped: readonly string[],
  { mode, callerId, storesFormer }: { mode: ImportMode; callerId: string; storesFormer: boolean },
) {
  const table = escapeIdentifier(definition.table);
  const columnOf = (property: string) => escapeIdentifier(definition.fields[property]!.column);
  const cell = (property: string) =>
    `(r->>${mapped.indexOf(property) + 2})::${definition.fields[property]!.sqlType}`;
  const keyColumns = definition.key.map(columnOf);
  const changed = mapped.filter((property) => !definition.key.includes(property));

  const inserts = Object.entries({ id: 'new-id' as const, ...definition.onInsert });
  const insertColumns = [
    'tenant_id',
    ...inserts.map(([column]) => escapeIdentifier(column)),
    ...mapped.map(columnOf),
  ];
  const insertValues = [
    '$1::uuid',
    ...inserts.map(([column, value]) => systemSql(value, column, callerId)),
    ...mapped.map(cell),
  ];
  const importColumns = 'import_job_id, import_row';
  const systemUpdates = Object.entries(definition.onUpdate ?? {}).map(
    ([column, value]) => `${escapeIdentifier(column)} = ${systemSql(value, column, callerId)}`,
  );
  const source = 'jsonb_array_elements($2::jsonb) AS r';

  const insert = `INSERT INTO ${table} AS t (${insertColumns.join(', ')}, ${importColumns})
    SELECT ${insertValues.join(', ')}, $3::uuid, (r->>0)::int FROM ${source}
    ON CONFLICT (tenant_id, ${keyColumns.join(', ')})`;
  const updates = [
    ...changed.map((property) => `${columnOf(property)} = EXCLUDED.${columnOf(property)}`),
    ...systemUpdates,
    'import_job_id = EXCLUDED.import_job_id',
    'import_row = EXCLUDED.import_row',
  ];
  const directUpdates = (properties: readonly string[]) =>
    [
      ...properties.map((property) => `${columnOf(property)} = ${cell(property)}`),
      ...systemUpdates,
      'import_job_id = $3::uuid',
      'import_row = (r->>0)::int',
    ].join(', ');
  const sameKey = definition.key
    .map((property) => `t.${columnOf(property)} = ${cell(property)}`)
    .join(' AND ');

  const isOfOtherJob = 't.import_job_id IS DISTINCT FROM $3::uuid';
  /** Only rows that the job did not write before are updated; the update stores their former values first (ADR 0018). */
  const updatable = (importRow: string) =>
    storesFormer
      ? `${isOfOtherJob} AND exchange_keep_former(t.tenant_id, t.id, $3::uuid, ${importRow}, to_jsonb(t), t.xmin::text)`
      : isOfOtherJob;
  const update = (properties: readonly string[], match: string) => `
    UPDATE ${table} AS t SET ${directUpdates(properties)} FROM ${source}
    WHERE t.tenant_id = $1::uuid AND ${match} AND ${updatable('(r->>0)::int')}
    RETURNING t.import_row, t.id, t.xmin`;

  const byKey: Record<ImportMode, string> = {
    UPSERT: `${insert} DO UPDATE SET ${updates.join(', ')}
      WHERE ${updatable('EXCLUDED.import_row')}
      RETURNING t.import_row, CASE WHEN t.xmax <> 0 THEN t.id END, t.xmin`,
    INSERT: `${insert} DO NOTHING RETURNING t.import_row, NULL, t.xmin`,
    UPDATE: update(changed, sameKey),
  };
  const keyTexts = definition.key.map((property) => `t.${columnOf(property)}`).join(', ');
  const keyCells = definition.key
    .map(
      (property, index) =>
        `t.${columnOf(property)} = (r->>${index})::${definition.fields[property]!.sqlType}`,
    )
    .join(' AND ');
  return {
    byKey: byKey[mode],
    byId: update(mapped, 't.id = (r->>1)::uuid'),
    findOfJob: `SELECT t.import_row, ${keyTexts} FROM ${table} AS t JOIN ${source} ON ${keyCells}
      WHERE t.tenant_id = $1::uuid AND t.import_job_id = $3::uuid`,
    findById: `SELECT t.id, t.import_job_id, t.import_row FROM ${table} AS t WHERE t.tenant_id = $1::uuid AND t.id = ANY($2::uuid[])`,
    findKeys: `SELECT t.id, ${keyTexts} FROM ${table} AS t WHERE t.tenant_id = $1::uuid AND t.id = ANY($2::uuid[])`,
  };
}
