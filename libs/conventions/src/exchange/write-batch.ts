import { escapeIdentifier, escapeLiteral, type PoolClient } from 'pg';
import type { ConvertedRow } from './convert';
import { keyText, said, shownValue } from './convert';
import type { BatchContext, ExchangeDefinition, RowFault, SystemValue } from './definition';
import type { FieldValue } from './field';
import { rowIds } from './row-ids';
import { rowText, type RowText } from './row-texts';

export type ImportMode = 'UPSERT' | 'INSERT' | 'UPDATE';

export interface Written {
  inserted: ConvertedRow[];
  updated: ConvertedRow[];
  skipped: ConvertedRow[];
  faults: RowFault[];
}

/** Writes the rows of one batch in as few statements as there are kinds of rows. */
export interface BatchWriter {
  write(rows: readonly ConvertedRow[], context: BatchContext): Promise<Written>;
  /** By key, as which row of the file this job wrote it already. */
  findWritten(rows: readonly ConvertedRow[], context: BatchContext): Promise<Map<string, number>>;
}

/**
 * Prepares the statements of one import.
 * A row that this job wrote already is never written again: its `import_job_id` says so, and its `import_row` which row
 * of the file it was. So a key that appears twice in a file of any size is found without remembering all keys.
 */
export function batchWriter(
  definition: ExchangeDefinition,
  columns: readonly string[],
  mode: ImportMode,
  callerId: string,
): BatchWriter {
  const mapped = columns.filter((property) => property in definition.fields);
  const sql = statementsOf(definition, mapped, mode, callerId);
  const keyOf = (values: Record<string, FieldValue>) =>
    definition.key.map((property) => values[property] ?? null);

  const toJson = (rows: readonly ConvertedRow[]): string => {
    const ids = rowIds(rows.length);
    return JSON.stringify(
      rows.map(({ rowNumber, values, id }, index) => {
        const row: FieldValue[] = [rowNumber, id ?? ids[index]!];
        for (const property of mapped) row.push(values[property] ?? null);
        return row;
      }),
    );
  };

  const run = async (
    statement: string,
    rows: readonly ConvertedRow[],
    { connection, caller, jobId }: BatchContext,
  ) =>
    (
      await connection.query<[number, boolean]>({
        text: statement,
        values: [caller.tenantId, toJson(rows), jobId],
        rowMode: 'array',
      })
    ).rows;

  const findWritten: BatchWriter['findWritten'] = async (rows, { connection, caller, jobId }) => {
    const found = await connection.query<unknown[]>({
      text: sql.findOfJob,
      values: [caller.tenantId, JSON.stringify(rows.map(({ values }) => keyOf(values))), jobId],
      rowMode: 'array',
    });
    return new Map(found.rows.map(([row, ...key]) => [keyText(key as FieldValue[]), row as number]));
  };

  /** Rows that no statement took: written by this job before, or excluded by the mode. */
  const explain = async (rows: readonly ConvertedRow[], context: BatchContext, written: Written) => {
    const firstRows = await findWritten(rows, context);
    for (const row of rows) {
      const first = firstRows.get(row.key!);
      if (first === undefined) written.skipped.push(row);
      else written.faults.push(duplicateOf(definition, row, first));
    }
  };

  const writeByKey = async (
    rows: readonly ConvertedRow[],
    context: BatchContext,
    written: Written,
  ): Promise<void> => {
    const results = await inSavepoint(context.connection, () => run(sql.byKey, rows, context));
    if (results instanceof Error) {
      if (rows.length === 1) {
        written.faults.push(refusedBy(results, rows[0]!));
        return;
      }
      // One row spoils a whole statement: halving finds it in a few steps.
      const half = Math.ceil(rows.length / 2);
      await writeByKey(rows.slice(0, half), context, written);
      await writeByKey(rows.slice(half), context, written);
      return;
    }
    const byNumber = new Map(rows.map((row) => [row.rowNumber, row]));
    for (const [rowNumber, isNew] of results) {
      (isNew ? written.inserted : written.updated).push(byNumber.get(rowNumber)!);
      byNumber.delete(rowNumber);
    }
    if (byNumber.size > 0) await explain([...byNumber.values()], context, written);
  };

  /** Rows that name an id: the row of this id is meant, also when its key is to change. */
  const writeById = async (
    rows: readonly ConvertedRow[],
    context: BatchContext,
    written: Written,
  ): Promise<void> => {
    const { connection, caller, jobId } = context;
    const found = await connection.query<[string, string | null, number | null]>({
      text: sql.findById,
      values: [caller.tenantId, rows.map(({ id }) => id)],
      rowMode: 'array',
    });
    const stored = new Map(found.rows.map(([id, job, row]) => [id, job === jobId ? row : null] as const));
    for (const row of rows) {
      const writtenAs = stored.get(row.id!);
      if (writtenAs === undefined) written.faults.push(unknownId(row));
      else if (writtenAs !== null) written.faults.push(duplicateOf(definition, row, writtenAs));
      else if (mode === 'INSERT') written.skipped.push(row);
      else {
        const results = await inSavepoint(connection, () => run(sql.byId, [row], context));
        if (results instanceof Error) written.faults.push(refusedBy(results, row));
        else {
          written.updated.push(row);
          stored.set(row.id!, row.rowNumber);
        }
      }
    }
  };

  /** Of the rows with an id, those whose key is the stored one can go the quick way. */
  const splitByKey = async (rows: readonly ConvertedRow[], { connection, caller }: BatchContext) => {
    const found = await connection.query<unknown[]>({
      text: sql.findKeys,
      values: [caller.tenantId, rows.map(({ id }) => id)],
      rowMode: 'array',
    });
    const keysById = new Map(found.rows.map(([id, ...key]) => [id as string, keyText(key as FieldValue[])]));
    const keepsKey = (row: ConvertedRow) => keysById.get(row.id!) === row.key;
    return { quick: rows.filter(keepsKey), slow: rows.filter((row) => !keepsKey(row)) };
  };

  return {
    findWritten,
    async write(rows, context) {
      const written: Written = { inserted: [], updated: [], skipped: [], faults: [] };
      const withId = rows.filter(({ id }) => id !== null);
      const { quick, slow } = withId.length > 0 ? await splitByKey(withId, context) : { quick: [], slow: [] };
      const byKey = slow.length > 0 ? [...rows.filter(({ id }) => id === null), ...quick] : rows;
      if (byKey.length > 0) await writeByKey(byKey, context, written);
      if (slow.length > 0) await writeById(slow, context, written);
      return written;
    },
  };
}

const systemSql = (value: SystemValue, column: string, callerId: string): string => {
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

function statementsOf(
  definition: ExchangeDefinition,
  mapped: readonly string[],
  mode: ImportMode,
  callerId: string,
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
  const marks = 'import_job_id, import_row';
  const systemUpdates = Object.entries(definition.onUpdate ?? {}).map(
    ([column, value]) => `${escapeIdentifier(column)} = ${systemSql(value, column, callerId)}`,
  );
  const source = 'jsonb_array_elements($2::jsonb) AS r';

  const insert = `INSERT INTO ${table} AS t (${insertColumns.join(', ')}, ${marks})
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

  const byKey: Record<ImportMode, string> = {
    UPSERT: `${insert} DO UPDATE SET ${updates.join(', ')}
      WHERE t.import_job_id IS DISTINCT FROM EXCLUDED.import_job_id
      RETURNING t.import_row, (t.xmax = 0)`,
    INSERT: `${insert} DO NOTHING RETURNING t.import_row, true`,
    UPDATE: `UPDATE ${table} AS t SET ${directUpdates(changed)} FROM ${source}
      WHERE t.tenant_id = $1::uuid AND ${sameKey} AND t.import_job_id IS DISTINCT FROM $3::uuid
      RETURNING t.import_row, false`,
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
    byId: `UPDATE ${table} AS t SET ${directUpdates(mapped)} FROM ${source}
      WHERE t.tenant_id = $1::uuid AND t.id = (r->>1)::uuid RETURNING t.import_row, false`,
    findOfJob: `SELECT t.import_row, ${keyTexts} FROM ${table} AS t JOIN ${source} ON ${keyCells}
      WHERE t.tenant_id = $1::uuid AND t.import_job_id = $3::uuid`,
    findById: `SELECT t.id, t.import_job_id, t.import_row FROM ${table} AS t WHERE t.tenant_id = $1::uuid AND t.id = ANY($2::uuid[])`,
    findKeys: `SELECT t.id, ${keyTexts} FROM ${table} AS t WHERE t.tenant_id = $1::uuid AND t.id = ANY($2::uuid[])`,
  };
}

/** Runs a statement so that its failure for the sake of a row leaves the transaction usable. */
async function inSavepoint<Result>(
  connection: PoolClient,
  run: () => Promise<Result>,
): Promise<Result | Error> {
  await connection.query('SAVEPOINT rows');
  try {
    const result = await run();
    await connection.query('RELEASE SAVEPOINT rows');
    return result;
  } catch (error) {
    if (!isAboutRows(error)) throw error;
    await connection.query('ROLLBACK TO SAVEPOINT rows');
    return error as Error;
  }
}

/** SQLSTATE classes 22 and 23: the data is wrong, not the database or the statement. */
const isAboutRows = (error: unknown): boolean =>
  /^2[23]/.test(String((error as { code?: unknown }).code ?? ''));

const rowFault = (
  row: ConvertedRow,
  kind: RowFault['kind'],
  code: string,
  text: RowText,
  column: string | null = null,
  value: string | null = null,
): RowFault => ({
  rowNumber: row.rowNumber,
  kind,
  column,
  value: value === null ? null : shownValue(value),
  code: `Service:${kind}:${code}`,
  ...said(text),
});

export function duplicateOf({ key, fields }: ExchangeDefinition, row: ConvertedRow, first: number): RowFault {
  const names = key.map((property) => fields[property]!.header).join(', ');
  const value = key.map((property) => String(row.values[property] ?? '')).join(', ');
  const text = rowText('duplicateKey', first, names, row.rowNumber);
  return rowFault(row, 'Identity', 'DuplicateKey', text, key[0]!, value);
}

const unknownId = (row: ConvertedRow): RowFault =>
  rowFault(row, 'Identity', 'UnknownId', rowText('unknownId'), 'id', row.id);

/** What a constraint of the database has against a row, without its words. */
function refusedBy(error: Error, row: ConvertedRow): RowFault {
  const { code } = error as Error & { code?: string };
  if (code === '23505') return rowFault(row, 'Persistence', 'Unique', rowText('unique'));
  if (code === '23503') return rowFault(row, 'Persistence', 'Reference', rowText('reference'));
  return rowFault(row, 'Persistence', 'Constraint', rowText('constraint'));
}
